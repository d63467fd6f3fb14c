//! What the attempts are aimed at: listeners, a key file, a repository, a state folder, and the judge itself.

use selfsmith::store::state::StateFolder;
use selfsmith_repo::Repo;
use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where everything is, as the attempts are told.
#[derive(Debug, Clone, Default)]
pub struct Targets(Vec<(&'static str, String)>);

/// All of it.
pub struct Place {
    pub secret: String,
    pub mark: String,
    folder: tempfile::TempDir,
    shared: PathBuf,
    tcp: TcpListener,
    tcp_any: TcpListener,
    udp: UdpSocket,
    udp_any: UdpSocket,
    unix: UnixListener,
    abstract_: UnixListener,
    abstract_name: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let word = folder.path().file_name().unwrap().to_str().unwrap().replace('.', "");
        let secret = format!("canary-{word}");
        let abstract_name = format!("selfsmith-{word}");
        let shared = Path::new("/dev/shm").join(&secret);
        fs::write(&shared, &secret).unwrap();
        for name in ["home", "generations"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("home/key"), &secret).unwrap();
        let project = folder.path().join("project");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escapes/base"), &project);
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"],
        ] {
            assert!(Command::new("git").args(words).current_dir(&project).status().unwrap().success());
        }
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let udp_any = UdpSocket::bind("0.0.0.0:0").unwrap();
        let abstract_ = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let place = Self {
            mark: format!("stays-{word}"),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp_any: TcpListener::bind("0.0.0.0:0").unwrap(),
            udp,
            udp_any,
            unix: UnixListener::bind(folder.path().join("socket")).unwrap(),
            abstract_: UnixListener::bind_addr(&abstract_).unwrap(),
            abstract_name,
            secret,
            shared,
            folder,
        };
        place.tcp.set_nonblocking(true).unwrap();
        place.tcp_any.set_nonblocking(true).unwrap();
        place.udp.set_nonblocking(true).unwrap();
        place.udp_any.set_nonblocking(true).unwrap();
        place.unix.set_nonblocking(true).unwrap();
        place.abstract_.set_nonblocking(true).unwrap();
        let state = place.state();
        for path in ["cycles", "slots/0/base-tree", "slots/0/base-target"] {
            fs::create_dir_all(state.root().join(path)).unwrap();
        }
        fs::write(state.ops(), "").unwrap();
        place
    }

    pub fn repo(&self) -> Repo {
        Repo::open(&self.folder.path().join("project")).unwrap()
    }

    pub fn state(&self) -> StateFolder {
        StateFolder::open(&self.folder.path().join("state"), "sample").unwrap()
    }

    /// Everything as it is; `own` is a folder in which the attempts may write.
    pub fn targets(&self, own: &str) -> Targets {
        let at = |path: &str| self.folder.path().join(path).display().to_string();
        let port = |address: std::net::SocketAddr| address.port().to_string();
        Targets(vec![
            ("TCP: u16", port(self.tcp.local_addr().unwrap())),
            ("TCP_ANY: u16", port(self.tcp_any.local_addr().unwrap())),
            ("UDP: u16", port(self.udp.local_addr().unwrap())),
            ("UDP_ANY: u16", port(self.udp_any.local_addr().unwrap())),
            ("ADDRESS: &str", text(&own_address())),
            ("SOCKET: &str", text(&at("socket"))),
            ("ABSTRACT: &str", text(&self.abstract_name)),
            ("KEY_FILE: &str", text(&at("home/key"))),
            ("SECRET: &str", text(&self.secret)),
            ("SHARED_MEMORY: &str", text(&self.shared.display().to_string())),
            ("HOME: &str", text(&at("home"))),
            ("REPO: &str", text(&at("project"))),
            ("STATE: &str", text(&self.state().root().display().to_string())),
            ("GENERATIONS: &str", text(&at("generations"))),
            ("JUDGE: i32", std::process::id().to_string()),
            ("JUDGE_PROGRAM: &str", text(&std::env::current_exe().unwrap().display().to_string())),
            ("OWN: &str", text(own)),
            ("MARK: &str", text(&self.mark)),
            ("LARGEST_FILE: u64", (4_u64 << 30).to_string()),
            ("MOST_PROCESSES: usize", "2048".to_owned()),
            ("MOST_DESCRIPTORS: usize", "8192".to_owned()),
            ("MOST_DISK: u64", (2_u64 << 30).to_string()),
        ])
    }

    /// The attempts, aimed at these, as rustfmt writes them.
    pub fn source(&self, targets: &Targets) -> String {
        let consts: String = targets.0.iter().map(|(name, value)| format!("const {name} = {value};\n")).collect();
        let source = include_str!("attempts.rs").replace("// @targets@\n", &consts);
        let file = self.folder.path().join("attempts.rs");
        fs::write(&file, source).unwrap();
        let done = Command::new("rustfmt").args(["--edition", "2024"]).arg(&file).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read_to_string(file).unwrap()
    }

    /// The attempts as a program. It prints how many there were, and which got out.
    pub fn compiled(&self, targets: &Targets, name: &str) -> PathBuf {
        let main = "\nfn main() {\n    let from = std::env::args().nth(1).unwrap_or_default();\n    \
                    if from == \"control\" {\n        \
                    for (name, attempt) in HARMLESS {\n            println!(\"{name}: {}\", attempt());\n        }\n        \
                    return;\n    }\n    \
                    let (count, escaped) = all(&from);\n    println!(\"{count} attempts, out: {escaped:?}\");\n}\n";
        let file = self.folder.path().join(format!("{name}.rs"));
        fs::write(&file, self.source(targets) + main).unwrap();
        let program = self.folder.path().join(name);
        let done = Command::new("rustc").args(["--edition", "2024", "-o"]).args([&program, &file]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        program
    }

    /// Without a room, everything that does no harm gets out: each of these attempts can succeed.
    pub fn control(&self) {
        // The same attempts at a place of its own, so that this one stays as it was.
        let other = Self::new();
        let own = other.folder.path().display().to_string();
        let program = other.compiled(&other.targets(&own), "control");
        let echo = |socket: &UdpSocket| socket.try_clone().unwrap();
        let (one, two) = (echo(&other.udp), echo(&other.udp_any));
        let answers = std::thread::spawn(move || {
            for socket in [one, two] {
                socket.set_nonblocking(false).unwrap();
                socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
                let Ok((_, from)) = socket.recv_from(&mut [0; 8]) else { return };
                socket.send_to(b"in", from).unwrap();
            }
        });
        let output = Command::new(program)
            .arg("control")
            .env("CANARY_KEY", &other.secret)
            .env("JUDGE_HINT", std::process::id().to_string())
            .current_dir(other.folder.path().join("home"))
            .env("TMPDIR", other.folder.path())
            .output()
            .unwrap();
        answers.join().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // The judge's own environment and working folder do not hold the canary here, a program that runs is busy, and
        // some systems keep the memory of other processes from everybody.
        let excused = [
            "environment of the judge",
            "read a key file through its working folder",
            "write the judge:",
            "memory of the judge",
        ];
        let failed: Vec<&str> = said
            .lines()
            .filter(|line| line.ends_with("false") && !excused.iter().any(|e| line.starts_with(e)))
            .collect();
        assert!(failed.is_empty() && said.lines().count() >= 30, "without a room these failed: {failed:?}\n{said}");
    }

    /// Everything of the person's, byte for byte.
    pub fn persons(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        for folder in ["home", "generations", "project/.git/hooks", "project/src"] {
            gather(&self.folder.path().join(folder), &mut all);
        }
        for file in ["project/.git/config", "project/.git/index", "project/.git/HEAD", "project/.git/refs/heads/main"] {
            let path = self.folder.path().join(file);
            all.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
        let program = std::env::current_exe().unwrap();
        all.insert(program.clone(), fs::metadata(program).unwrap().len().to_string().into_bytes());
        all
    }

    /// No connection, no packet, no process that stayed, no copy of the key where a link was left.
    pub fn nothing_came(&self) {
        assert!(self.tcp.accept().is_err() && self.tcp_any.accept().is_err(), "a TCP connection came");
        assert!(self.unix.accept().is_err() && self.abstract_.accept().is_err(), "a UNIX connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err() && self.udp_any.recv(&mut [0; 8]).is_err(), "a packet came");
        assert!(!lives(&self.mark), "a process stays");
        let mut left = BTreeMap::new();
        gather(self.state().root(), &mut left);
        let holds = |bytes: &[u8]| bytes.windows(self.secret.len()).any(|part| part == self.secret.as_bytes());
        // The candidate's own text names what it looks for.
        let copies: Vec<_> = left
            .iter()
            .filter(|(path, bytes)| {
                path.extension().is_none_or(|e| e != "rs") && bytes.as_slice() == self.secret.as_bytes() && holds(bytes)
            })
            .map(|(path, _)| path)
            .collect();
        assert!(copies.is_empty(), "the judge followed a link: {copies:?}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.shared);
    }
}

/// Whether a process with this word in its command line lives.
pub fn lives(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    })
}

/// An address of this machine that is not loopback's, where it has one; else loopback's other one.
fn own_address() -> String {
    // No packet is sent: a connected UDP socket only says which address it would send from.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let found = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    found.map_or_else(|_| "127.0.0.2".to_owned(), |address| address.ip().to_string())
}

fn text(value: &str) -> String {
    format!("{value:?}")
}

fn gather(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            gather(&path, all);
        } else {
            all.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
    }
}

/// Copy a folder; `.in` at the end of a name falls away.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let target = to.join(name.strip_suffix(".in").unwrap_or(&name));
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}
