//! The keeper of a workspace's snapshots: what a session tells it, and what a person asks of it.

mod back;

use super::changed::Changed;
use super::entry::{Digest, Outside, Rel};
use super::plan::{self, Doubtful};
use super::record::{Author, Label, Open, OpenFile, Record, Records, undoable};
use super::scan::{self, Rules, ScanError, patterns};
use super::store::{Store, private_folder};
use super::terms::{Job, Reach, Remark, Report, SnapshotError, What};
use super::tree::{Change, Tree};
use super::turns::{chosen, digest, merged, wanted};
use super::{Settings, index};
use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Keeps the snapshots of one workspace. Cheap to clone; blocks while it looks at files: call it from a thread that may.
#[derive(Debug, Clone)]
pub struct Keeper(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    folder: PathBuf,
    keep_bytes: u64,
    rules: Rules,
    settings: Digest,
    store: Store,
    records: Records,
    now: fn() -> SystemTime,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    label: Label,
    /// The last look at everything.
    tree: Option<Arc<Tree>>,
    /// Whether the index on disk is that.
    saved: bool,
    /// The whole workspace cannot be looked at.
    too_many: bool,
    open: Option<Running>,
    /// A job of the session was running at the end of the last turn.
    job: bool,
    recovered: bool,
    /// Held as long as contents must not be swept away by others.
    alive: Option<File>,
    /// Whether the bound of all contents was looked at.
    bounded: bool,
    told: BTreeSet<(Rel, Outside)>,
    changed: Changed,
    /// Tells states of the workspace apart: every change since the start, each way and back taking itself out again.
    digest: u64,
}

#[derive(Debug)]
struct Running {
    open: Open,
    file: OpenFile,
    whole: Option<Arc<Tree>>,
    /// Bytes of all records when it began.
    from: u64,
}

impl Keeper {
    /// For a workspace (links resolved), with everything kept in a folder of its own. Touches no disk.
    pub fn new(settings: &Settings, folder: PathBuf, root: PathBuf, now: fn() -> SystemTime) -> Self {
        let rules = Rules {
            max_file: settings.max_file_bytes,
            max_total: settings.max_total_bytes,
            max_entries: settings.max_entries,
            excluded: patterns(&settings.exclude),
            own: folder.clone(),
        };
        // Another line between in and out makes the last look worthless.
        let told = format!("{:?}", (settings.max_file_bytes, settings.max_total_bytes, &settings.exclude, &root));
        Self(Arc::new(Inner {
            store: Store::new(folder.join("contents")),
            records: Records::new(folder.clone()),
            settings: Digest::of(told.as_bytes()),
            keep_bytes: settings.keep_bytes,
            rules,
            root,
            folder,
            now,
            state: Mutex::default(),
        }))
    }

    /// A turn begins.
    pub fn begin(&self, label: Label) {
        self.lock().label = label;
    }

    /// A call is about to run that may change something: keeps what it may change. What it says is news.
    pub fn before(&self, reach: &Reach) -> Vec<Remark> {
        let mut state = self.lock();
        match self.0.before(&mut state, reach) {
            Ok(remarks) => remarks,
            Err(error) => vec![Remark::None(with_cause(&error))],
        }
    }

    /// The turn's calls are over: writes down what they changed. `job` says whether a background job still runs. Another
    /// turn may begin at once; it waits for this by itself.
    pub fn after(&self, job: Job) -> Option<SnapshotError> {
        let mut state = self.lock();
        state.job = job == Job::Runs;
        self.0.close(&mut state).err()
    }

    /// Files that the present prompt changed until the last [`Self::after`], by tools or by commands, sorted.
    pub fn changed(&self) -> Vec<String> {
        let state = self.lock();
        state.changed.files(&state.label)
    }

    /// A number that tells states of the workspace apart, as far as turns changed it.
    pub fn digest(&self) -> u64 {
        self.lock().digest
    }

    /// Takes turns back. Asking again goes further back.
    ///
    /// # Errors
    /// Records cannot be read or written. What was restored until then stays so, and the same undo can be asked for again.
    pub fn undo(&self, what: What<'_>, doubtful: Doubtful) -> Result<Report, SnapshotError> {
        let inner = &*self.0;
        let mut state = self.lock();
        let (_alone, records) = inner.settled(&mut state)?;
        let turns = chosen(undoable(&records), what, doubtful);
        if turns.is_empty() {
            return Ok(Report::default());
        }
        let (steps, mut left) = plan::plan(turns.iter().map(|(_, author, changes)| (*author, *changes)), doubtful);
        let done = inner.carry_out(&steps)?;
        let taken_back = turns.iter().filter(|(_, author, _)| doubtful == Doubtful::Undo || *author == Author::Turn);
        let turns: Vec<(Label, Author)> = taken_back.map(|(label, author, _)| ((*label).clone(), *author)).collect();
        if !turns.is_empty() {
            let undone =
                Record::Undone { at: inner.millis(), turns: turns.clone(), changes: back::changes(&steps, &done) };
            inner.records.append(&undone).map_err(|cause| inner.io("write", cause))?;
        }
        left.extend(done.left);
        left.sort_by(|a, b| a.0.cmp(&b.0));
        let turns = turns.into_iter().map(|(label, _)| label).collect();
        Ok(Report { turns, restored: done.restored, left })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in another thread leaves whole values.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn before(&self, state: &mut State, reach: &Reach) -> Result<Vec<Remark>, SnapshotError> {
        // The look after the last turn is the one before this one, where that has not been had yet.
        let fresh = state.open.as_ref().is_some_and(|running| running.open.label != state.label);
        if fresh {
            self.close(state)?;
        }
        if !state.recovered {
            let _alone = self.records.alone().map_err(|cause| self.io("write", cause))?;
            self.recover(state)?;
            state.alive = Some(self.records.alive().map_err(|cause| self.io("write", cause))?);
        }
        let mut remarks = Vec::new();
        let whole = *reach == Reach::Everything && !state.too_many;
        if whole && state.open.as_ref().is_none_or(|running| running.whole.is_none()) {
            match self.whole(state, fresh) {
                Ok(()) => remarks.extend(news(state)),
                Err(SnapshotError::Scan { cause: ScanError::TooMany(limit), .. }) => {
                    state.too_many = true;
                    remarks.push(Remark::TooMany(limit));
                }
                Err(error) => return Err(error),
            }
        }
        if let Reach::Files(files) = reach {
            self.files(state, files)?;
        }
        Ok(remarks)
    }

    /// Looks at everything before a turn.
    fn whole(&self, state: &mut State, fresh: bool) -> Result<(), SnapshotError> {
        let last = state.tree.clone().or_else(|| self.load().map(Arc::new));
        let seen_before = state.tree.is_some();
        let tree = match &last {
            Some(last) if fresh && seen_before => Arc::clone(last),
            _ => Arc::new(self.scan(last.as_deref())?),
        };
        if let (true, true, Some(last)) = (state.job, seen_before, &last) {
            let changes = last.changes(&tree);
            state.digest ^= digest(&changes);
            self.write_down(&state.label, Author::Job, changes, Vec::new())?;
        }
        state.saved &= last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &tree) || **last == *tree);
        state.tree = Some(Arc::clone(&tree));
        self.save(state).map_err(|cause| self.io("write", cause))?;
        let running = self.running(state)?;
        running.whole = Some(tree);
        running.open.whole = true;
        running.file.write(&running.open).map_err(|cause| self.io("write", cause))
    }

    /// Looks at single files before a call.
    fn files(&self, state: &mut State, files: &[PathBuf]) -> Result<(), SnapshotError> {
        let below = |path: &PathBuf| Rel::below(&self.root, path);
        if let Some(running) = state.open.as_mut().filter(|running| running.whole.is_some()) {
            running.open.tools.extend(files.iter().filter_map(below));
            return running.file.write(&running.open).map_err(|cause| self.io("write", cause));
        }
        // Folders above it that the call would have to make are covered too.
        let chain = |file: &PathBuf| {
            let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists());
            missing.map(Path::to_owned).chain([file.clone()]).collect::<Vec<_>>()
        };
        let paths: Vec<Rel> = files.iter().flat_map(chain).filter_map(|path| below(&path)).collect();
        let running = self.running(state)?;
        running.open.tools.extend(paths.iter().cloned());
        for path in paths {
            if let btree_map::Entry::Vacant(vacant) = running.open.files.entry(key(&path)) {
                let entry =
                    scan::look(&self.root, &path, &self.rules, &self.store).map_err(|cause| self.io("write", cause))?;
                vacant.insert((path, entry));
            }
        }
        running.file.write(&running.open).map_err(|cause| self.io("write", cause))
    }

    fn running<'s>(&self, state: &'s mut State) -> Result<&'s mut Running, SnapshotError> {
        if state.open.is_none() {
            let open = Open { label: state.label.clone(), ..Open::default() };
            let file = self.records.open(&open).map_err(|cause| self.io("write", cause))?;
            let from = self.records.size();
            state.open = Some(Running { open, file, whole: None, from });
        }
        // It was put there just now.
        state.open.as_mut().ok_or_else(|| self.io("write", io::ErrorKind::NotFound.into()))
    }

    /// Every record, the turn under way and those of killed processes among them; none is added while the lock is held.
    fn settled(&self, state: &mut State) -> Result<(File, Vec<Record>), SnapshotError> {
        self.close(state)?;
        let alone = self.records.alone().map_err(|cause| self.io("write", cause))?;
        self.recover(state)?;
        let records = self.records.read().map_err(|cause| self.io("read", cause))?;
        Ok((alone, records))
    }

    /// Looks again after a turn.
    fn close(&self, state: &mut State) -> Result<(), SnapshotError> {
        let Some(running) = state.open.take() else { return Ok(()) };
        let mut changes = match &running.whole {
            Some(whole) => {
                let tree = Arc::new(self.scan(Some(whole))?);
                state.saved = false;
                let changes = merged(&running.open, whole.changes(&tree), |path| tree.entry(path).cloned());
                state.tree = Some(tree);
                self.save(state).map_err(|cause| self.io("write", cause))?;
                changes
            }
            None => self.changes_of_files(&running.open)?,
        };
        // What file tools of another session changed meanwhile is its own.
        let others = self.records.of_others(&running.open.label.session, running.from);
        changes.retain(|change| !others.contains(&change.path) || running.open.tools.contains(&change.path));
        state.changed.add(&running.open.label, &changes);
        state.digest ^= digest(&changes);
        let tools = running.open.by_tools(&changes);
        self.write_down(&running.open.label, Author::Turn, changes, tools)?;
        running.file.close();
        if !std::mem::replace(&mut state.bounded, true) {
            self.bound(state).map_err(|cause| self.io("write", cause))?;
        }
        Ok(())
    }

    fn changes_of_files(&self, open: &Open) -> Result<Vec<Change>, SnapshotError> {
        let mut now = BTreeMap::new();
        for (path, _) in open.files.values() {
            let entry =
                scan::look(&self.root, path, &self.rules, &self.store).map_err(|cause| self.io("write", cause))?;
            now.insert(path.clone(), entry);
        }
        Ok(merged(open, Vec::new(), |path| now.get(path).cloned().flatten()))
    }

    /// Writes down what turns changed whose sessions were killed in the middle of them.
    fn recover(&self, state: &mut State) -> Result<(), SnapshotError> {
        state.recovered = true;
        for (open, file) in self.records.abandoned() {
            let changes = match self.load().filter(|_| open.whole) {
                Some(before) => {
                    let now = self.scan(Some(&before))?;
                    merged(&open, before.changes(&now), |path| now.entry(path).cloned())
                }
                None => self.changes_of_files(&open)?,
            };
            let tools = open.by_tools(&changes);
            self.write_down(&open.label, Author::Killed, changes, tools)?;
            file.close();
        }
        Ok(())
    }

    fn write_down(
        &self,
        label: &Label,
        author: Author,
        changes: Vec<Change>,
        tools: Vec<Rel>,
    ) -> Result<(), SnapshotError> {
        if changes.is_empty() {
            return Ok(());
        }
        let record = Record::Turn { label: label.clone(), author, changes, tools };
        self.records.append(&record).map_err(|cause| self.io("write", cause))
    }

    /// Drops the oldest turns where all contents together are over their bound, unless another session is at work here.
    fn bound(&self, state: &State) -> io::Result<()> {
        let Some(alive) = &state.alive else { return Ok(()) };
        if self.store.size() + self.records.size() <= self.keep_bytes || alive.try_lock().is_err() {
            return alive.lock_shared();
        }
        let swept = self.sweep(state);
        alive.lock_shared()?;
        swept
    }

    fn sweep(&self, state: &State) -> io::Result<()> {
        let mut records = self.records.read()?;
        let tree = state.tree.as_deref().cloned().or_else(|| self.load()).unwrap_or_default();
        loop {
            // Half of them at a time, so that it comes to an end soon.
            records.drain(..records.len().div_ceil(2));
            self.records.replace(&records)?;
            let left = self.store.sweep(&wanted(&records, &tree))?;
            if left <= self.keep_bytes / 2 || records.is_empty() {
                return Ok(());
            }
        }
    }

    fn scan(&self, last: Option<&Tree>) -> Result<Tree, SnapshotError> {
        private_folder(&self.folder).map_err(|cause| self.io("write", cause))?;
        let nothing = Tree::default();
        scan::scan(&self.root, last.unwrap_or(&nothing), &self.rules, &self.store, self.now)
            .map_err(|cause| SnapshotError::Scan { path: self.root.display().to_string(), cause })
    }

    fn load(&self) -> Option<Tree> {
        index::load(&self.index(), self.settings).filter(|_| self.store.exists())
    }

    fn save(&self, state: &mut State) -> io::Result<()> {
        let Some(tree) = state.tree.as_ref().filter(|_| !state.saved) else { return Ok(()) };
        index::save(&self.index(), tree, self.settings)?;
        state.saved = true;
        Ok(())
    }

    fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    fn io(&self, doing: &'static str, cause: io::Error) -> SnapshotError {
        SnapshotError::Io { doing, path: self.folder.display().to_string(), cause }
    }

    fn millis(&self) -> u64 {
        let since = (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_millis().try_into().unwrap_or(u64::MAX)
    }
}

/// What is left out and was not told yet.
fn news(state: &mut State) -> Option<Remark> {
    let outside = state.tree.as_ref()?.outside();
    let told = &mut state.told;
    let news: Vec<_> = outside
        .into_iter()
        .filter(|(path, (why, _))| told.insert((path.clone(), *why)))
        .map(|(path, (why, size))| (path, why, size))
        .collect();
    (!news.is_empty()).then_some(Remark::NotKept(news))
}

/// A key that is text, for JSON.
fn key(path: &Rel) -> String {
    path.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn with_cause(error: &SnapshotError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("could not {error}{cause}")
}
