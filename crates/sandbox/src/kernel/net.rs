//! The loopback interface of a network namespace.

use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsRawFd;

/// Brings `lo` up (netdevice(7)), which gives it 127.0.0.1 and ::1.
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: all-zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = byte.cast_signed();
    }
    // SAFETY: the kernel reads the name and writes the flags of the structure that it is given.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just written this member.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: as above; this call only reads.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Whether this network namespace has nothing but loopback, so that nothing outside can be reached from it.
pub(crate) fn only_loopback() -> bool {
    let Ok(table) = std::fs::read_to_string("/proc/self/net/dev") else { return false };
    // Two lines of heading (proc_pid_net(5)).
    let mut names =
        table.lines().skip(2).filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).peekable();
    names.peek().is_some() && names.all(|name| name == "lo")
}
