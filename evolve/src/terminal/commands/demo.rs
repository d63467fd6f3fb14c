//! `demo`: three goals on a sample crate, with cassettes in the model's place and everything else real.

use crate::terminal::cli::{DemoArgs, Where};
use crate::terminal::commands::evolve::Run;
use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::place::{Place, now};
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{interrupt, review};
use crate::terminal::display::{Audience, Display};
use selfsmith::cycle::CycleEnd;
use selfsmith::demo::{self, SCENES, Scene};
use selfsmith::judgement::gate::GateName;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::settings::Settings;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::proposer::table::Spec;
use selfsmith::store::authority::Authority;
use selfsmith::store::journal::Landing;
use selfsmith::texts::{EN, fill};
use selfsmith_repo::{Identity, Repo, When};
use std::fs;
use std::path::{Path, PathBuf};

/// Run it.
pub fn run(arguments: DemoArgs, around: &Surroundings) -> Result<Exit, Stop> {
    for program in ["cargo", "git"] {
        if which::which_in(program, around.var("PATH"), &around.cwd).is_err() {
            return Err(Stop {
                exit: Exit::Failed,
                what: fill(EN.demo_missing, &[("program", program)]),
                hint: String::new(),
            });
        }
    }
    // What has to be built is built before the first scene.
    super::agent_ready(around)?;
    let display = Display::new(around, Audience::of(arguments.json));
    let folder = folder(arguments.folder.as_deref(), around)?;
    display.say(EN.demo_intro);
    display.say(&fill(EN.demo_folder, &[("folder", &folder.display().to_string())]));
    let sample = prepare(&folder)?;
    let cassettes = match &arguments.cassettes {
        Some(dir) => around.absolute(dir),
        None => folder.join("cassettes"),
    };
    let mut place = Place::open(&Where { repo: Some(sample.clone()) }, around)?;
    // The sample is the demo's own, and so is the policy; the owner's settings are for the owner's repositories.
    place.settings = Settings::default();
    let cancel = interrupt::watched();
    let mut ends = Vec::new();
    for (number, scene) in SCENES.iter().enumerate() {
        display.say(
            &display
                .look()
                .strong(&fill(EN.demo_scene, &[("number", &(number + 1).to_string()), ("title", title(scene))])),
        );
        let run = Run {
            place: &place,
            spec: Spec::Replay(cassettes.join(format!("{}.jsonl", scene.name))),
            wishes: Wishes { accept_weaker: arguments.accept_weaker_room, ..Wishes::default() },
            branch: None,
            landing: Landing::Auto,
            // This process made the repository, in a folder that was not there before.
            authority: Some(Authority::Sample),
            display: &display,
            cancel: cancel.clone(),
            around,
        };
        let end = run.one(scene.goal)?;
        run.tell(&end);
        if end.interrupted {
            return Ok(Exit::Interrupted);
        }
        ends.push((scene, end));
    }
    close(&display, &place, &sample, &ends, around)?;
    let bundled = arguments.cassettes.is_none();
    Ok(if bundled && !as_bundled(&display, &ends) { Exit::Failed } else { Exit::Done })
}

/// The folder that everything happens in: new, and kept.
fn folder(named: Option<&Path>, around: &Surroundings) -> Result<PathBuf, Stop> {
    let could_not = |path: &Path, error: std::io::Error| {
        let what = format!("make the folder {}: {error}", path.display());
        Stop::failed(&what, "name a new folder with --folder")
    };
    match named {
        Some(path) => {
            let path = around.absolute(path);
            fs::create_dir(&path).map_err(|error| could_not(&path, error))?;
            Ok(path)
        }
        None => {
            let made = tempfile::Builder::new().prefix("selfsmith-demo-").tempdir();
            made.map(tempfile::TempDir::keep).map_err(|error| could_not(&std::env::temp_dir(), error))
        }
    }
}

/// The sample as a repository, and the cassettes beside it.
fn prepare(folder: &Path) -> Result<PathBuf, Stop> {
    let sample = folder.join("sizes");
    let written = fs::create_dir(&sample)
        .and_then(|()| demo::write_sample(&sample))
        .and_then(|()| demo::write_cassettes(&folder.join("cassettes")));
    written.map_err(|error| {
        Stop::failed(&format!("write the sample into {}: {error}", folder.display()), "make room on that disk")
    })?;
    let author = Identity { name: "Selfsmith demo".into(), email: "demo@selfsmith.invalid".into() };
    Repo::found(&sample, &author, "Read and write sizes", When { seconds: now(), offset_minutes: 0 })?;
    Ok(sample)
}

fn title(scene: &Scene) -> &'static str {
    match scene.name {
        "improve" => EN.demo_improve,
        "break" => EN.demo_break,
        _ => EN.demo_cheat,
    }
}

/// What a reviewer sees, and what to type next.
fn close(
    display: &Display,
    place: &Place,
    sample: &Path,
    ends: &[(&Scene, CycleEnd)],
    around: &Surroundings,
) -> Result<(), Stop> {
    display.say(&display.look().strong(EN.demo_review));
    for line in review::lines(place, display.look())? {
        display.say(&line);
    }
    let first = ends.first().and_then(|(_, end)| end.candidate.clone()).unwrap_or_default();
    let command = super::typed(around);
    let shown = |path: &Path| path.display().to_string();
    let cassettes = sample.with_file_name("cassettes");
    let values = [
        ("command", command.as_str()),
        ("repo", &shown(sample)),
        ("candidate", &first),
        ("cassettes", &shown(&cassettes)),
    ];
    display.say(&fill(EN.demo_next, &values));
    Ok(())
}

/// Whether the bundled cassettes led where they lead; it is said where they did not.
fn as_bundled(display: &Display, ends: &[(&Scene, CycleEnd)]) -> bool {
    let mut all = true;
    for (scene, end) in ends {
        let seen = (end.verdict.word(), end.gate.map(GateName::as_str));
        if seen != scene.ends {
            let verdict = format!("{} {} ({})", seen.0, seen.1.unwrap_or_default(), end.why);
            display.say(&display.look().bad(&fill(EN.demo_other, &[("scene", scene.name), ("verdict", &verdict)])));
            all = false;
        }
    }
    all
}
