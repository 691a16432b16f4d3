"""Machines on which the installed service is tried: a Debian folder (`Chroot`) and a staged folder on this machine (`Staged`),
and the service itself, started as its unit says, without systemd."""

import contextlib
import ctypes
import errno
import json
import os
import pathlib
import shlex
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
import zlib

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEM = PATH.replace("/usr/local/sbin:/usr/local/bin:", "")


class Failure(Exception):
    """What was expected and what was seen, for the reader of the drill."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def tail(text, lines=12):
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])


class Done:
    """A command that has ended."""

    def __init__(self, command, status, output, errors):
        self.command, self.status, self.output, self.errors = command, status, output, errors

    @property
    def text(self):
        return self.output + self.errors

    def check(self, status=0):
        shown = self.command if isinstance(self.command, str) else shlex.join(map(str, self.command))
        expect(self.status == status, f"{shown}\n    ended with {self.status}, expected {status}:\n{tail(self.text)}")
        return self


class Machine:
    """A machine whose files lie below a folder. Paths are as its own programs see them."""

    #: Whether the drill may become other users and mount, which root may.
    is_root = os.geteuid() == 0

    def __init__(self, root):
        self.root = str(root)
        self.work = "/root/work"

    def outside(self, path):
        """Returns the path by which this process reaches a file of the machine."""
        return pathlib.Path(path if path.startswith(self.root + "/") else self.root + path)

    def place(self, path):
        """Returns the path by which the machine's programs reach a file of it."""
        return path if self.is_whole else self.root + path

    def write(self, path, text, mode=0o644):
        file = self.outside(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, str):
            text = text.encode()
        file.write_bytes(text)
        file.chmod(mode)

    def read(self, path):
        return self.outside(path).read_text()

    def begin(self, command, user=None, env=None, cwd=None, **more):
        """Starts a command; a text is for bash."""
        if isinstance(command, str):
            command = ["bash", "-c", command]
        return subprocess.Popen(
            self.argv([str(word) for word in command], user, env or {}, cwd or self.work), **more)

    def run(self, command, user=None, env=None, cwd=None, input="", timeout=120):
        with self.begin(
            command, user, env, cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                output, errors = process.communicate(input.encode(), timeout)
                status = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                output, errors = process.communicate()
                status = f"nothing within {timeout} s"
        return Done(command, status, output.decode(errors="replace"), errors.decode(errors="replace"))

    def concord(self, *arguments, **more):
        return self.run([self.program, *arguments], **more)


class Chroot(Machine):
    """A Debian folder. This process is in the network namespace in which its programs run."""

    program = "concord"
    is_whole = True

    def argv(self, command, user, env, cwd):
        usual = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        variables = [f"{name}={value}" for name, value in (usual | env).items()]
        become = ["setpriv", f"--reuid={user}", f"--regid={'nogroup' if user == 'nobody' else user}", "--init-groups"] if user else []
        return ["chroot", self.root, "env", "-i", "-C", cwd, *variables, *become, *command]

    def owner(self, name):
        """Returns the numbers of a user and its group."""
        for line in self.read("/etc/passwd").splitlines():
            fields = line.split(":")
            if fields[0] == name:
                return int(fields[2]), int(fields[3])
        raise Failure(f"there is no user {name} in {self.root}")


class Staged(Machine):
    """A folder with the package's files, and a debug build of the program on this machine, which looks for the service
    below that folder (CONCORD_TEST_ROOT)."""

    is_whole = False

    def __init__(self, root, program):
        super().__init__(root)
        self.program = program
        self.work = self.root + "/root/work"
        self.user = 65_534

    def argv(self, command, user, env, cwd):
        usual = {
            "PATH": SYSTEM, "HOME": self.root + "/root", "LANG": "C.UTF-8", "CONCORD_TEST_ROOT": self.root,
            "CONCORD_TEST_PASSWORDS": "1",
        }
        variables = [f"{name}={value}" for name, value in (usual | env).items()]
        become = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        return ["env", "-i", "-C", cwd, *variables, *(["setpriv", *become] if user else []), *command]

    def owner(self, name):
        return (self.user, self.user) if self.is_root else (os.getuid(), os.getgid())


class Unit:
    """The lines of a unit of systemd."""

    def __init__(self, text):
        self.lines = {}
        for line in text.splitlines():
            name, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                self.lines.setdefault(name.strip(), []).append(value.strip())

    def __getitem__(self, name):
        return self.lines.get(name, [""])[-1]

    def all(self, name):
        return [word for value in self.lines.get(name, []) for word in value.split()]


def environment_file(text):
    """Returns the variables of a file, which the drills write without quotes."""
    pairs = (line.partition("=") for line in text.splitlines() if line.strip() and line[0] not in "#;")
    return {name.strip(): value.strip() for name, _, value in pairs}


class Service:
    """Concord's service, as its unit has it: user, umask, environment, capabilities, and what it may write to. It
    reports its state to the socket of sd_notify(3)."""

    def __init__(self, machine, unit="/usr/lib/systemd/system/concord.service"):
        self.machine = machine
        self.unit = Unit(machine.read(unit))
        self.process = None
        self.log = ""
        self.states = []
        self.changed = threading.Condition()
        self.filter = None
        name = "notify-" + os.path.basename(unit).removesuffix(".service")
        self.notify = "/run/" + name
        machine.outside("/run").mkdir(parents=True, exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # The address of a socket is short, and a path below the folder of a test may not be.
        with contextlib.chdir(machine.outside("/run")):
            self.socket.bind(name)
        os.chmod(machine.outside(self.notify), 0o666)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            text = self.socket.recv(4096).decode()
            with self.changed:
                self.states += [line for line in text.splitlines() if line.endswith("=1")]
                self.changed.notify_all()

    def wait(self, state, timeout=60):
        """Waits for a report; the process may end instead."""
        limit = time.monotonic() + timeout
        with self.changed:
            while state not in self.states:
                expect(time.monotonic() < limit, f"the service did not report {state}:\n{tail(self.log)}")
                if self.process.poll() is not None:
                    return False
                self.changed.wait(0.1)
            self.states.remove(state)
        return True

    # What the unit says

    @property
    def data(self):
        return "/var/lib/" + self.unit["StateDirectory"]

    @property
    def writable(self):
        """The places that the unit may write to, beside /tmp and /dev."""
        return [self.data] + [path.lstrip("-+") for path in self.unit.all("ReadWritePaths")]

    def variables(self):
        machine = self.machine
        user = self.unit["User"]
        given = {"PATH": SYSTEM, "LANG": "C.UTF-8", "USER": user, "LOGNAME": user, "HOME": self.data}
        prefix = "" if machine.is_whole else machine.root
        for line in self.unit.lines.get("Environment", []):
            name, _, value = line.partition("=")
            given[name] = value.replace("%S", prefix + "/var/lib")
        for path in self.unit.lines.get("EnvironmentFile", []):
            file = machine.outside(path.lstrip("-"))
            if file.exists():
                given |= environment_file(file.read_text())
        given["NOTIFY_SOCKET"] = prefix + self.notify
        if not machine.is_whole:
            # A debug build hashes passwords slowly; and what a unit has as its own /tmp.
            given |= {"CONCORD_TEST_PASSWORDS": "1", "TMPDIR": machine.root + "/tmp"}
        return given

    def command(self):
        words = shlex.split(self.unit["ExecStart"])
        return words if self.machine.is_whole else [self.machine.program, *words[1:]]

    # Starting it

    def mounts(self):
        """Returns the lines of a shell that take away what the unit takes away, in a mount namespace of its own."""
        root, whole = self.machine.root, self.machine.is_whole
        lines = ["set -eu"]
        for path in self.writable:
            place = shlex.quote(root + path)
            lines.append(f"[ ! -d {place} ] || mount --bind {place} {place}")
        if whole:
            lines += [f"mount -o remount,bind,ro {root}", f"mount -o remount,bind,ro {root}/run"]
            lines += [f"mount -t tmpfs tmpfs {root}/tmp", f"chmod 1777 {root}/tmp"]
            if self.unit["ProtectHome"] == "yes":
                lines += [f"mount -t tmpfs -o mode=000,ro tmpfs {root}{home}" for home in ("/root", "/home")]
            if self.unit["ProcSubset"] == "pid":
                lines.append(f"mount -t proc -o hidepid=invisible,subset=pid proc {root}/proc")
            return lines
        # The folder of the test is on the file system of this machine, all of which becomes read-only.
        kept = [root + path for path in [*self.writable, "/tmp"]]
        lines.append(f"mount --bind {shlex.quote(root)}/tmp {shlex.quote(root)}/tmp")
        ignored = ("/proc", "/dev", "/sys")
        lines.append("mount --make-rprivate /")
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            place = line.split()[4].encode().decode("unicode_escape")
            if place not in kept and not any(place == each or place.startswith(each + "/") for each in ignored):
                lines.append(f"mount -o remount,bind,ro {shlex.quote(place)} 2>/dev/null || true")
        return lines

    def become(self):
        """Returns the words that give up root, and whatever privilege the unit does not leave."""
        machine, unit = self.machine, self.unit
        if not machine.is_root:
            return []
        kept = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in unit.all("AmbientCapabilities"))
        bound = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in unit.all("CapabilityBoundingSet"))
        user, group = machine.owner(unit["User"])
        words = ["setpriv", f"--reuid={user}", f"--regid={group}"]
        words.append("--clear-groups" if not machine.is_whole else "--init-groups")
        words += [f"--inh-caps=-all{kept}", f"--ambient-caps=-all{kept}", f"--bounding-set=-all{bound}"]
        return words + (["--no-new-privs"] if unit["NoNewPrivileges"] == "yes" else [])

    def argv(self, more):
        machine = self.machine
        variables = [f"{name}={value}" for name, value in self.variables().items()]
        umask = f"umask {self.unit['UMask'] or '0022'}"
        if not machine.is_root:
            return ["env", "-i", *variables, "sh", "-c", umask + '; exec "$0" "$@"', *self.command(), *more]
        inner = [*self.become(), "env", "-i", *variables]
        if self.filter:
            inner += ["perl", "-e", FILTERED, self.filter, self.unit["MemoryDenyWriteExecute"]]
        inner += [*self.command(), *more]
        enter = f"exec chroot {machine.root}" if machine.is_whole else "exec"
        # This machine may allow fewer.
        limit = f"ulimit -n {self.unit['LimitNOFILE'] or 1024} 2>/dev/null || ulimit -n $(ulimit -H -n)"
        script = "\n".join([*self.mounts(), "cd /", umask, limit, f'{enter} "$@"'])
        return ["unshare", "--mount", "sh", "-c", script, "concord.service", *inner]

    def begin(self, *more):
        """Starts the process, whose log is kept."""
        expect(self.process is None or self.process.poll() is not None, "the service runs already")
        self.log, self.states = "", []
        data = self.machine.outside(self.data)
        if not data.exists():
            data.mkdir(mode=int(self.unit["StateDirectoryMode"], 8))
            os.chown(data, *self.machine.owner(self.unit["User"]))
        self.process = subprocess.Popen(
            self.argv(more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.reader = threading.Thread(target=self.keep, args=(self.process,), daemon=True)
        self.reader.start()

    def keep(self, process):
        for line in process.stdout:
            with self.changed:
                self.log += line.decode(errors="replace")
                self.changed.notify_all()

    def start(self, *more):
        self.begin(*more)
        if not self.wait("READY=1"):
            text = self.ended()
            raise Failure(f"the service ended with {self.process.returncode}:\n{tail(text)}")

    def refuse(self, status=1):
        """Starts the service, which must refuse to, and returns what it said."""
        self.begin()
        is_ready = self.wait("READY=1")
        expect(not is_ready, f"the start was not refused:\n{tail(self.log)}")
        text = self.ended()
        expect(self.process.returncode == status, f"the start ended with {self.process.returncode}:\n{tail(text)}")
        return text

    def ended(self):
        self.process.wait(60)
        self.reader.join(10)
        return self.log

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(60) == 0, f"the service ended with {self.process.returncode}:\n{tail(self.log)}")
        self.reader.join(10)

    def reload(self):
        with self.changed:
            self.states.clear()
        self.process.send_signal(signal.SIGHUP)
        expect(self.wait("RELOADING=1") and self.wait("READY=1"), f"no reload was reported:\n{tail(self.log)}")

    def waits_for_log(self, words, timeout=30):
        limit = time.monotonic() + timeout
        with self.changed:
            while words not in self.log:
                expect(time.monotonic() < limit, f"the log does not have “{words}”:\n{tail(self.log)}")
                self.changed.wait(0.1)

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.is_running:
            self.process.kill()
            self.process.wait()


# The unit's system calls

#: Loads a filter of system calls, and becomes the program of the other arguments. Bare Debian has perl and no Python.
FILTERED = r"""
open(my $f, "<", shift @ARGV) or die "filter: $!"; binmode $f; local $/; my $bpf = <$f>; close $f;
my $prctl = (`uname -m` =~ /aarch64/) ? 167 : 157;
my $program = pack("S x6 P", length($bpf) / 8, $bpf);
syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
# MemoryDenyWriteExecute=, where the kernel has it (6.3).
syscall($prctl, 65, 1, 0, 0, 0) if shift(@ARGV) eq "yes";
syscall($prctl, 22, 2, $program, 0, 0) == 0 or die "seccomp: $!";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";
"""


def system_calls(unit, sets):
    """Returns the names of the calls that SystemCallFilter= leaves; `sets` are the groups by name."""

    def expanded(word):
        if not word.startswith("@"):
            return {word.partition(":")[0]}
        return set().union(*(expanded(each) for each in sets[word]))

    left = set()
    for value in unit.lines["SystemCallFilter"]:
        words = value.removeprefix("~").split()
        calls = set().union(*(expanded(word) for word in words))
        left = left - calls if value.startswith("~") else left | calls
    # systemd allows these whatever the filter is.
    return left | expanded("@default")


class Comparison(ctypes.Structure):
    """A condition on an argument of a system call, as libseccomp has it."""

    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("value", ctypes.c_uint64), ("other", ctypes.c_uint64)]


def write_filter(unit, sets, path):
    """Writes the program with which the kernel holds a process to the unit's filter, or returns why it cannot."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return "libseccomp is not on this machine"
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(0x00050001)))  # an error, EPERM
    allow, unknown = ctypes.c_uint32(0x7FFF0000), ctypes.c_uint32(0x00050000 + errno.ENOSYS)
    for name in sorted(system_calls(unit, sets)):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            continue
        if name == "socket" and unit["RestrictAddressFamilies"]:
            for family in unit.all("RestrictAddressFamilies"):
                is_family = Comparison(0, 4, getattr(socket, family), 0)
                library.seccomp_rule_add_array(context, allow, number, 1, ctypes.byref(is_family))
        elif name in ("unshare", "setns") and unit["RestrictNamespaces"] == "yes":
            continue
        else:
            # The flags of clone3 cannot be seen, so that systemd refuses it, and the C library uses clone.
            is_hidden = name == "clone3" and unit["RestrictNamespaces"] == "yes"
            library.seccomp_rule_add(context, unknown if is_hidden else allow, number, 0)
    with open(path, "wb") as file:
        if library.seccomp_export_bpf(context, file.fileno()) != 0:
            return "the filter cannot be made"
    os.chmod(path, 0o644)
    return None


# Requests

def call(method, url, body=None, headers=None, context=None, timeout=30):
    """Sends a request, and returns the status, the body (JSON if it is) and the headers."""
    headers = dict(headers or {})
    if isinstance(body, dict):
        body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=timeout, context=context)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = answer.read().decode(errors="replace")
        with contextlib.suppress(ValueError):
            text = json.loads(text)
        return answer.status, text, answer.headers


def asked(status, method, url, *more, **others):
    """Sends a request whose status must be this one (2: any of 200 to 299), and returns the body and the headers."""
    found, body, headers = call(method, url, *more, **others)
    expect(status in (found, found // 100), f"{method} {url} was answered {found}, expected {status}: {body}")
    return body, headers


def picture(width=48, height=32):
    """Returns a small PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = [bytes((x * 5 & 255, y * 7 & 255, 99)) for y in range(height) for x in range(width)]
    rows = b"".join(b"\0" + b"".join(row[y * width:(y + 1) * width]) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def form(fields):
    """Returns the body and the header of a form. The value of a file is its name, type and content."""
    boundary, parts = "drill-3f1c9a", b""
    for name, value in fields.items():
        more, content = "", value
        if isinstance(value, tuple):
            more, content = f'; filename="{value[0]}"\r\nContent-Type: {value[1]}', value[2]
        parts += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode()
        parts += (content if isinstance(content, bytes) else content.encode()) + b"\r\n"
    return parts + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
