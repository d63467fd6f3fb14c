//! Users and capabilities: becoming somebody without power.

use nix::libc;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use std::io;

/// Highest number of a capability that we ask the kernel about; it refuses those that it does not know.
const HIGHEST_CAPABILITY: u64 = 63;

/// Which capabilities stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Powers {
    /// None at all.
    None,
    /// Those with these numbers (capabilities(7)), where they are there.
    Only(&'static [u64]),
}

/// Makes the calling process this user, in this group and no other, without any way back. Needs the right to.
pub(crate) fn become_user(user: Uid, group: Gid) -> io::Result<()> {
    setgroups(&[])?;
    setresgid(group, group, group)?;
    // While we still may.
    drop_bounding(Powers::None);
    Ok(setresuid(user, user, user)?)
}

/// Gives up capabilities, for good.
pub(crate) fn drop_powers(kept: Powers) -> io::Result<()> {
    drop_bounding(kept);
    // SAFETY: takes numbers alone.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    set_capabilities(kept)?;
    nix::sys::prctl::set_no_new_privs()?;
    Ok(())
}

/// What a later execve could give back. Needs CAP_SETPCAP; without it there is nothing that could come back.
fn drop_bounding(kept: Powers) {
    for capability in (0..=HIGHEST_CAPABILITY).filter(|capability| !kept.holds(*capability)) {
        // SAFETY: takes numbers alone.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
}

impl Powers {
    fn holds(self, capability: u64) -> bool {
        match self {
            Self::None => false,
            Self::Only(list) => list.contains(&capability),
        }
    }

    fn mask(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Only(list) => list.iter().fold(0, |mask, capability| mask | 1 << capability),
        }
    }
}

/// Header of capset(2), version 3.
#[repr(C)]
struct Header {
    version: u32,
    process: i32,
}

/// One half of capset(2)'s sets: version 3 takes two.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const VERSION_3: u32 = 0x2008_0522;

fn set_capabilities(kept: Powers) -> io::Result<()> {
    let mut header = Header { version: VERSION_3, process: 0 };
    let mut halves = [Half::default(); 2];
    // SAFETY: the kernel writes at most two halves for version 3.
    if unsafe { libc::syscall(libc::SYS_capget, &raw mut header, halves.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mask = kept.mask();
    for (half, mask) in halves.iter_mut().zip([mask as u32, (mask >> 32) as u32]) {
        half.permitted &= mask;
        half.effective &= mask;
        half.inheritable = 0;
    }
    // SAFETY: the kernel reads the header and two halves.
    if unsafe { libc::syscall(libc::SYS_capset, &raw mut header, halves.as_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
