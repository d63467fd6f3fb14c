//! Runs one case: makes the world, starts the program, looks at what came out.

use crate::case::{Case, CaseError, read_turns};
use crate::model::ScriptedModel;
use crate::tree::Tree;
use crate::{compare, events, tree};
use selfsmith_cassette::{CassetteError, Listener, Server, serve};
use selfsmith_sandbox::{
    Bind, BindMode, Cancel, Captured, End, Environment, Finished, Forward, Job, Limits, Program, Room, SandboxError,
    Walls,
};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How cases are run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the program runs.
    pub place: Place,
    /// Whether what came out becomes what is expected.
    pub bless: Bless,
    /// A folder for the worlds; each case makes and removes one of its own in it.
    pub scratch: PathBuf,
    /// The environment of the caller, from which `PATH` and the like are taken.
    pub parent: Vec<(OsString, OsString)>,
}

/// Where the program runs.
#[derive(Debug, Clone)]
pub enum Place {
    /// On this machine as it is: for programs that are trusted.
    Here,
    /// In the room: for candidates.
    Room(RoomPlace),
}

/// The room of a case.
#[derive(Debug, Clone)]
pub struct RoomPlace {
    /// What exists in it besides the world of the case, the program among it.
    pub room: Room,
    /// Limits of the program; wall time and output are the case's own.
    pub limits: Limits,
}

/// Whether `after/`, `events.jsonl` and `exit` are rewritten from what came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bless {
    /// Compare.
    No,
    /// Rewrite.
    Yes,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The folder's name.
    pub name: String,
    /// What differs; empty: it holds.
    pub faults: Vec<String>,
    /// The end of standard error, for whoever looks for the cause.
    pub stderr: String,
}

/// Why a case could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The folder is not a case.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The world could not be made or looked at.
    #[error("could not make or read the world of {case}: {source}")]
    World {
        /// The case.
        case: String,
        /// Why.
        source: io::Error,
    },
    /// The scripted model could not be served.
    #[error("could not serve the model of {case}: {source}")]
    Model {
        /// The case.
        case: String,
        /// Why.
        source: CassetteError,
    },
    /// The program could not be started.
    #[error("could not run {case}: {source}")]
    Run {
        /// The case.
        case: String,
        /// Why.
        source: SandboxError,
    },
}

/// Port of the model inside a room.
const ROOM_PORT: u16 = 8080;

/// Names of the case folders below a folder, sorted.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().join("case.yaml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Run one case. `program` is a path as the program's place sees it.
///
/// # Errors
/// The case cannot be run; a case that runs and does not hold is an [`Outcome`] with faults.
pub fn run(program: &Path, folder: &Path, options: &Options) -> Result<Outcome, ScenarioError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let io = |source| ScenarioError::World { case: name.clone(), source };
    let case = Case::read(folder)?;
    let before = tree::read(&folder.join("before")).map_err(io)?;
    let world = World::make(options, &before).map_err(io)?;
    let model = Arc::new(ScriptedModel::new(read_turns(folder)?));
    let (_server, url) =
        world.serve(options, model.clone()).map_err(|source| ScenarioError::Model { case: name.clone(), source })?;
    let job = world.job(program, &case, &url, options);
    let finished = selfsmith_sandbox::run(&job, &options.parent, &Cancel::default(), &mut |_, _| {})
        .map_err(|source| ScenarioError::Run { case: name.clone(), source })?;
    let seen = Seen::of(&finished, &world, &url).map_err(io)?;
    if options.bless == Bless::Yes {
        seen.bless(folder, &before).map_err(io)?;
    }
    let mut faults = seen.faults(&case, folder, before).map_err(io)?;
    faults.extend(model.faults());
    Ok(Outcome { name, faults, stderr: last(&seen.stderr) })
}

/// The folders of one case; they go when it is dropped.
struct World {
    folder: tempfile::TempDir,
    /// Where the model's socket lies: a short path whatever the scratch folder's is, as such paths must be (108 bytes).
    /// Only for a room.
    door: Option<tempfile::TempDir>,
    /// The workspace as the program sees it.
    root: PathBuf,
    home: PathBuf,
}

impl World {
    fn make(options: &Options, before: &Tree) -> io::Result<Self> {
        fs::create_dir_all(&options.scratch)?;
        let folder = tempfile::Builder::new().prefix("case-").tempdir_in(fs::canonicalize(&options.scratch)?)?;
        let workspace = folder.path().join("workspace");
        let home = folder.path().join("home");
        fs::create_dir(&workspace)?;
        fs::create_dir(&home)?;
        tree::write(before, &workspace)?;
        Ok(match options.place {
            Place::Here => Self { root: workspace, home, folder, door: None },
            Place::Room(_) => {
                selfsmith_sandbox::give_to_room(&workspace).map_err(io::Error::other)?;
                let door = Some(tempfile::Builder::new().prefix("selfsmith-case-").tempdir()?);
                Self { root: PathBuf::from("/workspace"), home: PathBuf::from("/tmp/home"), folder, door }
            }
        })
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn socket(&self) -> PathBuf {
        self.door.as_ref().unwrap_or(&self.folder).path().join("model.sock")
    }

    fn serve(&self, options: &Options, model: Arc<ScriptedModel>) -> Result<(Server, String), CassetteError> {
        let bound = |address: String| move |source| CassetteError::Serve { address, source };
        match options.place {
            Place::Here => {
                let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(bound("127.0.0.1".into()))?;
                let server = serve(Listener::Tcp(listener), model)?;
                let url = server.base_url().unwrap_or_default();
                Ok((server, url))
            }
            Place::Room(_) => {
                let socket = self.socket();
                let listener = UnixListener::bind(&socket).map_err(bound(socket.display().to_string()))?;
                // Whoever runs in the room is another user where the judge is root.
                let given = selfsmith_sandbox::give_to_room(&socket).map_err(std::io::Error::other);
                given.map_err(bound(socket.display().to_string()))?;
                let server = serve(Listener::Unix(listener), model)?;
                Ok((server, format!("http://127.0.0.1:{ROOM_PORT}/v1")))
            }
        }
    }

    fn job(&self, program: &Path, case: &Case, url: &str, options: &Options) -> Job {
        let root = self.root.to_string_lossy().into_owned();
        let place = |text: &str| OsString::from(text.replace("$ROOT", &root));
        let mut argv = vec![program.as_os_str().to_owned()];
        argv.extend(case.argv.iter().map(|a| place(a)));
        let mut set: Vec<(String, OsString)> = vec![
            ("HOME".into(), self.home.clone().into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("NO_PROXY".into(), "127.0.0.1,localhost".into()),
            ("SELFSMITH_BASE_URL".into(), url.into()),
            ("SELFSMITH_API_KEY".into(), "scripted".into()),
            ("SELFSMITH_MODEL".into(), "scripted".into()),
        ];
        set.extend(case.env.iter().map(|(name, value)| (name.clone(), place(value))));
        let wall = Duration::from_secs(case.within_s);
        let (walls, limits) = match &options.place {
            Place::Here => (Walls::None, Limits::default()),
            Place::Room(place) => (Walls::Room(self.room(&place.room)), place.limits.clone()),
        };
        Job {
            program: Program::Argv(argv),
            dir: self.root.clone(),
            environment: Environment { keep: vec!["PATH".into(), "TZ".into(), "TMPDIR".into()], set },
            stdin: case.stdin.clone().into_bytes(),
            limits: Limits { wall, output: 4 << 20, ..limits },
            walls,
        }
    }

    fn room(&self, template: &Room) -> Room {
        let mut room = template.clone();
        room.binds.push(Bind { source: self.workspace(), at: self.root.clone(), mode: BindMode::ReadWrite });
        room.forwards.push(Forward { port: ROOM_PORT, socket: self.socket() });
        room
    }
}

/// What came out, with the world's own names taken out of it.
struct Seen {
    end: End,
    stdout: String,
    stderr: String,
    after: Tree,
}

impl Seen {
    fn of(finished: &Finished, world: &World, url: &str) -> io::Result<Self> {
        let clean = |stream: &Captured| {
            let text = stream
                .text(|bytes| format!("[… {bytes} bytes cut …]"))
                .replace(&*world.root.to_string_lossy(), "$ROOT");
            text.replace(&*world.home.to_string_lossy(), "$HOME").replace(url, "$MODEL")
        };
        Ok(Self {
            end: finished.end,
            stdout: clean(&finished.stdout),
            stderr: clean(&finished.stderr),
            after: tree::read(&world.workspace())?,
        })
    }

    fn faults(&self, case: &Case, folder: &Path, before: Tree) -> io::Result<Vec<String>> {
        let mut faults = Vec::new();
        if self.end != End::Exit(case.exit) {
            faults.push(format!("exit {} expected, it ended with {:?}", case.exit, self.end));
        }
        faults.extend(compare::text("standard output", &case.stdout, &self.stdout));
        faults.extend(compare::text("standard error", &case.stderr, &self.stderr));
        if self.stderr.contains("panicked at") {
            faults.push(format!("it panicked:\n{}", last(&self.stderr)));
        }
        let after = folder.join("after");
        let expected = if after.exists() { tree::read(&after)? } else { before };
        faults.extend(compare::trees(&expected, &self.after));
        let events = folder.join("events.jsonl");
        if events.exists() {
            faults.extend(events::compare(&fs::read_to_string(events)?, &self.stdout));
        }
        Ok(faults)
    }

    fn bless(&self, folder: &Path, before: &Tree) -> io::Result<()> {
        let after = folder.join("after");
        if after.exists() {
            fs::remove_dir_all(&after)?;
        }
        if self.after != *before {
            fs::create_dir_all(&after)?;
            tree::write(&self.after, &after)?;
        }
        let events = folder.join("events.jsonl");
        if events.exists() {
            fs::write(events, events::bless(&self.stdout).map_err(io::Error::other)?)?;
        }
        Ok(())
    }
}

fn last(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(2000);
    text.chars().skip(skipped).collect()
}
