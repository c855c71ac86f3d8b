# shellcheck shell=sh
# What the scripts in this folder share. Source it after `root` is set to the top of the source tree.

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE: says what went wrong and what to do next, and leaves with 1.
fail() {
    say "${0##*/}: $*"
    exit 1
}

# misuse MESSAGE: a wrong command line.
misuse() {
    say "${0##*/}: $*"
    say "Run '$0 --help' to see how it is used."
    exit 64
}

# need_swift: the one thing the scripts cannot install.
need_swift() {
    command -v swift >/dev/null 2>&1 ||
        fail "there is no 'swift' on PATH; install Swift 6.2 or later from https://www.swift.org/install/linux and try again"
}

# wait_until SECONDS COMMAND...: runs COMMAND until it succeeds, at most for SECONDS; 1 when it never did.
wait_until() {
    wait_until_end=$(($(date +%s) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$wait_until_end" ] || return 1
        sleep 0.1
    done
}

# stop_process PID: asks it to leave, insists after five seconds.
stop_process() {
    [ -n "${1:-}" ] || return 0
    kill "$1" 2>/dev/null || return 0
    wait_until 5 gone "$1" || kill -KILL "$1" 2>/dev/null || true
}

# gone PID: it has ended, whether or not its parent has asked how (in a container often nobody does).
gone() {
    kill -0 "$1" 2>/dev/null || return 0
    grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# private_session FOLDER COMMAND...: runs COMMAND on a session bus of its own, with a home, a runtime folder and an
# unlocked gnome-keyring of its own inside FOLDER (made, and to be removed, by the caller). Nothing on it is activated
# but what COMMAND puts into $XDG_DATA_HOME/dbus-1/services; the bus, keyring and settings of the user are not reached.
# Sound still goes to the user's PulseAudio or PipeWire when there is one.
private_session() {
    private_session_at=$1
    shift
    # "t" is short because sockets below it have paths of at most 107 bytes.
    mkdir -p "$private_session_at/home/.local/share/dbus-1/services" "$private_session_at/run" "$private_session_at/t"
    chmod 700 "$private_session_at" "$private_session_at/home" "$private_session_at/run"
    cat >"$private_session_at/bus.conf" <<EOF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:dir=$private_session_at/run</listen>
  <auth>EXTERNAL</auth>
  <servicedir>$private_session_at/home/.local/share/dbus-1/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
EOF
    # shellcheck disable=SC2016  # the inner shell expands these
    env -u DISPLAY -u WAYLAND_DISPLAY -u DBUS_SESSION_BUS_ADDRESS -u GNOME_KEYRING_CONTROL \
        DBUS_SYSTEM_BUS_ADDRESS="unix:path=$private_session_at/run/system-bus" \
        PULSE_SERVER="${PULSE_SERVER:-$(pulse_server)}" PULSE_COOKIE="${PULSE_COOKIE:-${HOME:-/}/.config/pulse/cookie}" \
        PIPEWIRE_RUNTIME_DIR="${PIPEWIRE_RUNTIME_DIR:-${XDG_RUNTIME_DIR:-/nonexistent}}" \
        TMPDIR="$private_session_at/t" HOME="$private_session_at/home" XDG_RUNTIME_DIR="$private_session_at/run" \
        XDG_CONFIG_HOME="$private_session_at/home/.config" XDG_DATA_HOME="$private_session_at/home/.local/share" \
        XDG_STATE_HOME="$private_session_at/home/.local/state" XDG_CACHE_HOME="$private_session_at/home/.cache" \
        GST_REGISTRY="${GST_REGISTRY:-$root/.build/gstreamer-registry.bin}" GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 \
        dbus-run-session --config-file="$private_session_at/bus.conf" -- sh -eu -c '
            printf private | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>"$HOME/keyring.log" &&
                gdbus wait --session --timeout 10 org.freedesktop.secrets || {
                echo "the private keyring did not start:" >&3
                cat "$HOME/keyring.log" >&3
                exit 1
            }
            exec "$@" 2>&3 3>&-' private-session "$@" 3>&2 2>"$private_session_at/bus.log"
}

# pulse_server: the address of the user's sound server, or nothing.
pulse_server() {
    if [ -S "${XDG_RUNTIME_DIR:-/nonexistent}/pulse/native" ]; then
        printf 'unix:%s\n' "$XDG_RUNTIME_DIR/pulse/native"
    fi
}

# has_sound: whether anything here could be heard.
has_sound() {
    [ -n "${PULSE_SERVER:-}" ] || [ -S "${XDG_RUNTIME_DIR:-/nonexistent}/pulse/native" ] ||
        [ -S "${XDG_RUNTIME_DIR:-/nonexistent}/pipewire-0" ] || [ -S "${PIPEWIRE_RUNTIME_DIR:-/nonexistent}/pipewire-0" ] ||
        ls /dev/snd/pcm*p >/dev/null 2>&1
}

# manual DOGEAR: the manual page, with what that program says of its commands and settings where the page leaves room for it.
manual() {
    said=$("$1" --generate-manual) || return
    printf '%s\n' "$said" | sed -e '/^@COMMANDS@$/ {' -e 'r /dev/stdin' -e 'd' -e '}' "$root/data/dogear.1.in"
}
