//! Attempts to get out of the room. Each answers whether it got out.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::time::Duration;

// @targets@

unsafe extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
    fn ptrace(request: i64, pid: i32, address: usize, data: usize) -> i64;
    fn mount(source: *const i8, target: *const i8, kind: *const i8, flags: u64, data: usize) -> i32;
    fn unshare(flags: i32) -> i32;
    fn setuid(user: u32) -> i32;
    fn fork() -> i32;
    fn pause() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn sethostname(name: *const i8, length: usize) -> i32;
    fn _exit(code: i32) -> !;
    fn signal(number: i32, handler: usize) -> usize;
}

type Attempt = (&'static str, fn() -> bool);

/// Those that do no harm where they succeed, and so are tried outside as well.
pub const HARMLESS: &[Attempt] = &[
    ("tcp to loopback", || connects(&format!("127.0.0.1:{TCP}"))),
    ("tcp to any address", || connects(&format!("{ADDRESS}:{TCP_ANY}"))),
    ("udp to loopback", || sends(&format!("127.0.0.1:{UDP}"))),
    ("udp to any address", || sends(&format!("{ADDRESS}:{UDP_ANY}"))),
    ("unix socket by path", || UnixStream::connect(SOCKET).is_ok()),
    ("unix socket by abstract name", abstract_socket),
    ("unix socket through the root of another process", || UnixStream::connect(through_root(SOCKET)).is_ok()),
    ("read a key file", || reads(KEY_FILE)),
    ("read a key file through the root of another process", || reads(&through_root(KEY_FILE))),
    ("read a key file through its working folder", || reads(&format!("/proc/{}/cwd/key", judge()))),
    ("read a key file through a link", read_through_a_link),
    ("key in the own environment", || std::env::vars().any(|(_, value)| value == SECRET)),
    ("environment of the judge", || reads(&format!("/proc/{}/environ", judge()))),
    ("environment of any process", any_environment),
    ("memory of the judge", || File::open(format!("/proc/{}/mem", judge())).is_ok()),
    ("descriptors of the judge", || fs::read_dir(format!("/proc/{}/fd", judge())).is_ok()),
    ("signal the judge", || unsafe { kill(judge(), 0) == 0 }),
    ("see the judge", || names_the_judge()),
    ("shared memory", || reads(SHARED_MEMORY)),
    ("write the repository's settings", || appends(&format!("{REPO}/.git/config"), "\n")),
    ("write a hook", || writes(&format!("{REPO}/.git/hooks/post-checkout"))),
    ("write a ref", || writes(&format!("{REPO}/.git/refs/heads/evil"))),
    ("write the target ref", || appends(&format!("{REPO}/.git/refs/heads/main"), "")),
    ("write the index", || appends(&format!("{REPO}/.git/index"), "")),
    ("write the work tree", || writes(&format!("{REPO}/src/evil.rs"))),
    ("read the journal", || fs::read_dir(format!("{STATE}/cycles")).is_ok()),
    ("write the journal", || appends(&format!("{STATE}/ops.log"), "")),
    ("write another trial", || writes(&format!("{STATE}/slots/0/base-tree/evil"))),
    ("write the base's target folder", || writes(&format!("{STATE}/slots/0/base-target/evil"))),
    ("write the judge", || OpenOptions::new().append(true).open(JUDGE_PROGRAM).is_ok()),
    ("write a generation", || writes(&format!("{GENERATIONS}/evil"))),
    ("write the judge's settings", || writes(&format!("{HOME}/.config-evil"))),
    ("a hard link to a key file", || hard_link()),
    ("a file larger than permitted", || large_file()),
];

/// Those that would do harm outside.
const HARMFUL: &[Attempt] = &[
    ("dns", || ("example.com", 443).to_socket_addrs().is_ok_and(|mut found| found.next().is_some())),
    ("trace the judge", || in_child(|| unsafe { ptrace(16, judge(), 0, 0) == 0 })),
    ("become root", || in_child(|| unsafe { setuid(0) == 0 })),
    ("mount", || in_child(mounts)),
    ("a name space of its own with powers", || in_child(|| unsafe { unshare(0x1002_0000) == 0 } && mounts())),
    ("name the machine", || in_child(|| unsafe { sethostname(c"evil".as_ptr().cast(), 4) == 0 })),
    ("write the kernel's settings", || writes("/proc/sys/kernel/core_pattern")),
    ("write the toolchain", || writes("/trial/toolchain/bin/evil")),
    ("write the packages", || writes("/trial/cargo/registry/evil")),
    ("raw disks and memory", || ["/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda"].iter().any(|p| File::open(p).is_ok())),
    ("docker", || UnixStream::connect("/var/run/docker.sock").is_ok()),
    ("other network devices", other_devices),
    ("more processes than permitted", || processes() > MOST_PROCESSES),
    ("more descriptors than permitted", descriptors),
    ("more of the private disk than permitted", disk),
];

/// How many attempts there were, and the names of those that got out.
pub fn all(from: &str) -> (usize, Vec<String>) {
    // Too large a file is an error then, and no death (SIGXFSZ, SIG_IGN).
    unsafe { signal(25, 1) };
    survive(from);
    leave_links(from);
    let both = || HARMLESS.iter().chain(HARMFUL);
    let escaped = both().filter(|(_, attempt)| attempt()).map(|(name, _)| (*name).to_owned());
    let escaped = escaped.collect();
    // A process that survives, and links that the judge might follow, are looked for outside.
    (both().count() + 2, escaped)
}

fn judge() -> i32 {
    std::env::var("JUDGE_HINT").ok().and_then(|hint| hint.parse().ok()).unwrap_or(JUDGE)
}

fn connects(to: &str) -> bool {
    let Some(to) = to.to_socket_addrs().ok().and_then(|mut all| all.next()) else { return false };
    TcpStream::connect_timeout(&to, Duration::from_millis(300)).is_ok()
}

/// Whether it arrived is seen outside as well; an answer is seen here.
fn sends(to: &str) -> bool {
    let Ok(socket) = UdpSocket::bind("0.0.0.0:0") else { return false };
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
    socket.send_to(b"out", to).is_ok() && socket.recv_from(&mut [0; 8]).is_ok()
}

fn abstract_socket() -> bool {
    SocketAddr::from_abstract_name(ABSTRACT).is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())
}

fn through_root(path: &str) -> String {
    format!("/proc/{}/root{path}", judge())
}

fn reads(path: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()))
}

fn read_through_a_link() -> bool {
    let link = std::env::temp_dir().join("link-to-key");
    let _ = fs::remove_file(&link);
    symlink(KEY_FILE, &link).is_ok() && link.to_str().is_some_and(reads)
}

fn any_environment() -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.path().join("environ").to_str().map(str::to_owned)).any(|path| reads(&path))
}

fn names_the_judge() -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", judge())).unwrap_or_default();
    let program = Path::new(JUDGE_PROGRAM).file_name().and_then(|name| name.to_str()).unwrap_or("?");
    String::from_utf8_lossy(&line).contains(program)
}

fn appends(path: &str, text: &str) -> bool {
    let open = OpenOptions::new().append(true).open(path);
    open.is_ok_and(|mut file| file.write_all(text.as_bytes()).is_ok())
}

fn writes(path: &str) -> bool {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).is_ok()
}

fn hard_link() -> bool {
    let link = format!("{OWN}/linked-key");
    let _ = fs::remove_file(&link);
    fs::hard_link(KEY_FILE, &link).is_ok()
}

fn large_file() -> bool {
    let path = std::env::temp_dir().join("large");
    let made = File::create(&path).and_then(|file| file.set_len(LARGEST_FILE + 1));
    let _ = fs::remove_file(&path);
    made.is_ok()
}

fn mounts() -> bool {
    let (kind, place) = (c"tmpfs".as_ptr().cast(), c"/tmp".as_ptr().cast());
    unsafe { mount(kind, place, kind, 0, 0) == 0 }
}

fn other_devices() -> bool {
    let mut text = String::new();
    let _ = File::open("/proc/net/dev").and_then(|mut file| file.read_to_string(&mut text));
    text.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:"))
}

/// How many can be there at once; all of them end.
fn processes() -> usize {
    let mut children = Vec::new();
    while children.len() <= MOST_PROCESSES {
        match unsafe { fork() } {
            0 => loop {
                unsafe { pause() };
            },
            -1 => break,
            child => children.push(child),
        }
    }
    for child in &children {
        unsafe { kill(*child, 9) };
    }
    for child in &children {
        unsafe { waitpid(*child, std::ptr::null_mut(), 0) };
    }
    children.len()
}

fn descriptors() -> bool {
    let mut open = Vec::new();
    while open.len() <= MOST_DESCRIPTORS {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(_) => return false,
        }
    }
    true
}

fn disk() -> bool {
    let place = std::env::temp_dir();
    let chunk = vec![1_u8; 64 << 20];
    let path = place.join("filled");
    let filled = File::create(&path).is_ok_and(|mut file| (0..MOST_DISK >> 26).all(|_| file.write_all(&chunk).is_ok()));
    let _ = fs::remove_file(&path);
    filled
}

/// In a process of its own, so that what succeeds changes nothing here.
fn in_child(attempt: fn() -> bool) -> bool {
    match unsafe { fork() } {
        0 => {
            let escaped = attempt();
            unsafe { _exit(i32::from(escaped)) }
        }
        -1 => false,
        child => {
            let mut status = 0;
            unsafe { waitpid(child, &mut status, 0) };
            status == 1 << 8
        }
    }
}

/// A process that stays, in a session of its own: seen from outside by its name.
pub fn survive(from: &str) {
    let line = format!("sleep 300; : {MARK} {from}");
    let quiet = std::process::Stdio::null;
    let mut command = std::process::Command::new("setsid");
    command.args(["sh", "-c", &line]).stdin(quiet()).stdout(quiet()).stderr(quiet());
    let _ = command.spawn();
}

/// Links where the judge works after the programs have run: it must not follow them.
fn leave_links(from: &str) {
    for name in ["debug/linked", "tmp/linked", "linked", from] {
        let _ = symlink(KEY_FILE, Path::new(OWN).join(name));
    }
}
