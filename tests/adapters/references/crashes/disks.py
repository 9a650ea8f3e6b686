"""A disk that keeps no more than POSIX promises: the states that a crash can leave of a session."""

from functools import cache
from itertools import product

from crashing import CHANGES, JOURNAL, STORY, Facts, check, goes_on, opened, recovered_from

from turncheck.adapters.references.turn.files import MemoryFiles


class Recording(MemoryFiles):
    """Files that write down every change, and every event that was seen, in order."""

    def __init__(self, files=None):
        super().__init__(files)
        self.changes = []


def _recorded(name):
    def change(self, path, *arguments):
        self.changes.append((name, path, *arguments))
        return getattr(MemoryFiles, name)(self, path, *arguments)

    return change


for _name in CHANGES:
    setattr(Recording, _name, _recorded(_name))


LOOSE = 4
"""Parts that are not durable, of which every choice is tried; this runtime never has more."""
FATES = ("lost", "whole", "half", "blank")
"""What a crash makes of a part; the last two of bytes only: some are there, or their length is and they are not."""


class Disk:
    """A disk that keeps only POSIX's promises: bytes last after their file's sync, names after their folder's.

    ``start`` is durable. Each change becomes parts, of bytes or of a name, that are loose until a sync makes them last.
    """

    def __init__(self, start):
        self.names = {path: number for number, path in enumerate(start)}
        self.inodes = dict(enumerate(start.values()))
        self.first = dict(self.names)
        self.parts = []  # (kind, where, inode, data)
        self.durable = set()

    def change(self, kind, path, *arguments):
        match kind:
            case "write" | "append":
                if path not in self.names:
                    self.names[path] = len(self.inodes)
                    self.inodes[self.names[path]] = b""
                    self.parts.append(("name", path, self.names[path], b""))
                self.parts.append((kind, path, self.names[path], arguments[0]))
            case "truncate":
                self.parts.append((kind, path, self.names[path], arguments[0]))
            case "rename":
                self.names[arguments[0]] = self.names.pop(path)
                self.parts.append(("rename", arguments[0], self.names[arguments[0]], path))
            case "sync":
                inode = self.names.get(path)
                self.durable |= {
                    number
                    for number, (part, where, of, _) in enumerate(self.parts)
                    if (of == inode if part in {"write", "append", "truncate"} else where.parent == path)
                }

    def states(self):
        """Every choice of what became of the parts that are not durable; of more than LOOSE, that one of them or all
        are lost."""
        loose = [number for number in range(len(self.parts)) if number not in self.durable]
        if len(loose) <= LOOSE:
            for fates in product(*(self._fates(number) for number in loose)):
                yield self._state(dict(zip(loose, fates, strict=True)))
        else:
            for lost in ([], loose, *([number] for number in loose)):
                yield self._state(dict.fromkeys(lost, "lost"))

    def _fates(self, number):
        return FATES if self.parts[number][0] in {"write", "append"} else FATES[:2]

    def _state(self, fates):
        names, inodes = dict(self.first), dict(self.inodes)
        for number, (kind, where, inode, more) in enumerate(self.parts):
            fate = fates.get(number, "whole")
            if fate == "lost":
                continue
            data = more[: len(more) // 2] if fate == "half" else bytes(len(more)) if fate == "blank" else more
            match kind:
                case "name":
                    names[where] = inode
                case "rename":
                    names[where] = inode
                    names.pop(more, None)
                case "write":
                    inodes[inode] = data
                case "append":
                    inodes[inode] += data
                case "truncate":
                    inodes[inode] = inodes[inode][:data]
        return {path: inodes[inode] for path, inode in names.items()}


def crash_states(start, changes, shown=()):
    """Each state that a crash can leave, with the events that had been seen; the same of both comes once.

    *shown* are the events, each with how many changes had been made.
    """
    disk, known = Disk(start), set()
    for number in range(len(changes) + 1):
        seen = [event for made, event in shown if made <= number]
        for files in disk.states():
            key = (frozenset(files.items()), len(seen))
            if key not in known:
                known.add(key)
                yield files, Facts(seen)
        if number < len(changes):
            disk.change(*changes[number])


def recorded(files, word):
    """The changes of a session on *files*, and its events, each with how many had been made when it was seen."""
    runtime, events, _ = opened(files)
    shown = [(len(files.changes), event) for event in events]
    runtime.observe = lambda: shown.append((len(files.changes), runtime.log[-1]))
    for stimulus in word:
        runtime.apply(stimulus)
    return files.changes, shown


@cache
def recording():
    """The story's changes and events."""
    return recorded(Recording(), STORY)


def recoveries(changes, shown):
    """Return the numbers of recovered failures, for each state that a crash can leave."""
    for files, facts in crash_states({}, changes, shown):
        after, runtime = recovered_from(files)
        yield check(files.get(JOURNAL, b""), after, facts)
        assert goes_on(runtime)
