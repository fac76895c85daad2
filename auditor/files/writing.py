"""Files are written all together or not at all. Existing files stay unless `force` is given.

A run first writes its files into a folder of its own, `.auditor-PID-….part`, which stands beside their places, never inside a
release. When all are finished they are renamed, in the order they are given, and signals wait that long; a folder that is new
comes into being with all that is in it. What is replaced is kept until then, and put back if a rename fails. A run that was
killed leaves its `.part` folder behind; the next run that writes to the same place removes it. A live run holds a lock on
its own.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from auditor.model.errors import UsageError

try:
    import fcntl
except (
    ImportError
):  # pragma: no cover (not on Windows: there is no telling whether a run is alive, so nothing is removed)
    CAN_LOCK = False
else:
    CAN_LOCK = True

Folders = Path | Sequence[Path] | None
"""The folders that will be made where they are missing. One inside another comes after it."""

WRITTEN: list[Path] = []
"""The files that this process has written, for what is said where a command is interrupted."""
COMMITTING = threading.Event()
"""Set while files are renamed, which nothing should interrupt."""

_PREFIX, _SUFFIX = ".auditor-", ".part"
_STAGES: list[Path] = []
"""The folders of this process that hold unfinished files."""
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""What file systems without hard links answer."""


def _folders(folder: Folders) -> list[Path]:
    return [] if folder is None else [folder] if isinstance(folder, Path) else list(dict.fromkeys(folder))


def refuse_existing(files: Iterable[Path], force: bool, folder: Folders = None) -> None:
    """An error, before any work is done, where a file to be written exists and may not be replaced, or its folder is missing.

    `folder` may be missing, since it will be made.
    """
    made = _folders(folder)
    try:
        for one in made:
            if one.exists() and not one.is_dir():
                raise UsageError(f"{one} is a file. Give the name of a folder.")
            if one.parent not in made and not one.parent.is_dir():
                raise UsageError(f"{one}: its folder {one.parent} must exist.")
        for file in files:
            _refuse(file, force, file.parent in made)
    except (OSError, ValueError) as error:  # a name that is too long, or that no file can have
        raise _unwritable(error, None) from error


def _refuse(file: Path, force: bool, made: bool) -> None:
    if file.is_dir():
        raise UsageError(f"{file} is a folder. Give the name of a file.")
    if file.exists() and not stat.S_ISREG(file.stat().st_mode):
        raise UsageError(f"{file} is no ordinary file. Give the name of a file; where - is allowed, it is stdout.")
    if file.exists() and not force:
        raise UsageError(f"{file} exists already. Use --force to replace it.")
    if not made and not file.parent.is_dir():
        raise UsageError(f"{file}: its folder {file.parent} must exist.")


def _unwritable(error: OSError | ValueError, file: Path | None) -> UsageError:
    if isinstance(error, UnicodeEncodeError):
        return UsageError(f"{file}: cannot be written, since it would hold a character that UTF-8 does not have.")
    if isinstance(error, ValueError):
        return UsageError(f"A file cannot have this name ({error}).")
    if error.errno == errno.EEXIST and file is not None:
        return UsageError(f"{file} exists already. Use --force to replace it.")
    return UsageError(f"{file or error.filename}: cannot be written ({error.strerror}).")


def write_files(
    contents: Mapping[Path, str | bytes],
    force: bool = False,
    folder: Folders = None,
    private: Collection[Path | None] = (),
    gone: Iterable[Path] = (),
) -> None:
    """Writes texts (as UTF-8) and bytes, all of them or, where one cannot be written, none.

    `folder` is made where it is missing. Only their owner may read `private` files. `gone` are files of an older result that
    go when the new one is there.
    """
    refuse_existing(contents, force, folder)
    made = [one for one in _folders(folder) if not one.exists()]
    here = [one for one in _folders(folder) if one not in made]
    tops = {one: next(o for o in made if o == one or o in one.parents) for one in made}
    file = None
    with ExitStack() as held:
        stages: dict[Path, _Stage] = {}

        def stage(place: Path) -> _Stage:
            if place not in stages:
                stages[place] = _Stage(held.enter_context(own_folder(place)))
            return stages[place]

        moves: dict[Path, tuple[_Stage, Path]] = {}  # by target: where the new file or folder stands
        try:
            for file, content in contents.items():
                top = tops.get(file.parent)
                target = file if top is None else top
                if target not in moves:
                    area = stage(_beside(file, here) if top is None else top.parent)
                    moves[target] = area, area.spare()
                staged = moves[target][1]
                if top is not None:
                    staged /= file.relative_to(top)
                    staged.parent.mkdir(parents=True, exist_ok=True)
                staged.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
                staged.chmod(0o600 if file in private else 0o644)
            file = None
            with uninterrupted(), _undone_if_it_fails() as undo:
                for file, (area, staged) in moves.items():
                    _put(staged, file, area.spare(), force, undo)
                for file in gone:
                    if file not in contents and file.is_file():
                        _keep(file, stage(_beside(file, here)).spare(), undo)
                        file.unlink(missing_ok=True)
                WRITTEN.extend(contents)
        except (OSError, ValueError) as error:
            raise _unwritable(error, file) from error


def _put(staged: Path, target: Path, spare: Path, force: bool, undo: list[Callable[[], object]]) -> None:
    """Moves a finished file or folder to its place; a file that is there already is kept as `spare`."""
    if staged.is_dir():
        os.rename(staged, target)  # fails where there is a folder now
        undo.append(lambda: os.rename(target, staged))
    elif force and os.path.lexists(target):
        _keep(target, spare, undo)
        os.replace(staged, target)
    else:
        _link(staged, target)
        undo.append(target.unlink)


def _keep(file: Path, spare: Path, undo: list[Callable[[], object]]) -> None:
    """Keeps an old file under another name; it stays in its place where the file system can link."""
    try:
        os.link(file, spare, follow_symlinks=False)
    except (OSError, NotImplementedError):
        os.rename(file, spare)
    undo.append(lambda: os.replace(spare, file))


def _link(staged: Path, target: Path) -> None:
    """Moves a file to a place where nothing is; an error where somebody has put something there meanwhile."""
    try:
        os.link(staged, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
        os.rename(staged, target)


@contextmanager
def _undone_if_it_fails() -> Iterator[list[Callable[[], object]]]:
    """What has been done is undone, the last first, where something fails."""
    undo: list[Callable[[], object]] = []
    try:
        yield undo
    except BaseException:
        for step in reversed(undo):
            with suppress(OSError):  # the error that is raised is the first
                step()
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that would end the process wait until this is done. In another thread than the main one none arrives."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not None:  # None: set by something other than Python, and not ours to change
            before[number] = signal.signal(number, lambda caught, _: waiting.append(caught))
    outer = COMMITTING.is_set()
    COMMITTING.set()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if not outer:
            COMMITTING.clear()
        if waiting:
            signal.raise_signal(waiting[0])


# ----- where files stand until they are finished ----------------------------------------------------------------------


def _beside(file: Path, folders: Sequence[Path]) -> Path:
    """Where a file is made ready: in its folder or, where that is one of the results, beside it, if that is possible."""
    folder, results = file.parent, {os.path.realpath(one) for one in folders}
    home = here = Path(os.path.realpath(folder))
    while str(home) in results and home != home.parent:
        home = home.parent
    if home == here:
        return folder
    near = os.access(home, os.W_OK | os.X_OK) and home.stat().st_dev == folder.stat().st_dev
    return home if near else folder


class _Stage:
    """A folder for the files of this run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._count = folder, 0

    def spare(self) -> Path:
        """A name in the folder that is not taken."""
        self._count += 1
        return self.folder / str(self._count)


@contextmanager
def own_folder(place: Path, prefix: str = _PREFIX, suffix: str = _SUFFIX) -> Iterator[Path]:
    """A new folder in this place, for this process only: locked while it is used and removed afterwards. Those that dead
    processes left, with the same prefix and suffix, are removed first."""
    _sweep(place, prefix, suffix)
    folder = place / f"{prefix}{os.getpid()}-{token_hex(8)}{suffix}"
    _STAGES.append(folder)
    try:
        folder.mkdir(0o700)
        with _locked(folder):
            yield folder
    finally:
        tidy(folder)


def tidy(*folders: Path) -> None:
    """Removes what is not finished: these folders, or all of this process, where an interruption came in between."""
    with uninterrupted():
        for folder in folders or tuple(_STAGES):
            shutil.rmtree(folder, ignore_errors=True)
        _STAGES[:] = [folder for folder in _STAGES if folders and folder not in folders]


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Whether this process has the folder for itself now, and it stays so. False where that cannot be told."""
    with ExitStack() as held:
        mine = False
        if CAN_LOCK:
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
                held.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                mine = True
        yield mine


def _sweep(place: Path, prefix: str, suffix: str) -> None:
    """Removes the folders of dead runs. Where one cannot be looked at or removed, it stays."""
    with suppress(OSError):
        for folder in list(place.glob(f"{prefix}*{suffix}")):
            if _alive(folder.name.removeprefix(prefix).partition("-")[0]):
                continue
            with _locked(folder) as mine:
                if mine:
                    shutil.rmtree(folder, ignore_errors=True)


def _alive(number: str) -> bool:
    """Whether another process of this machine has this id: it may be about to lock its folder."""
    if not CAN_LOCK or not number.isdigit() or int(number) in (0, os.getpid()):
        return False
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
