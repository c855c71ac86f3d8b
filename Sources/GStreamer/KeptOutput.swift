/// What a load that is over still has of the sound server, until the next has its own: without any a server plans ahead for
/// itself, as much as two seconds of silence (PulseAudio's null sink), and the next sound comes behind that.
///
/// Lives on the gstreamer thread, which waits for its freeing as for that of any pipeline, and lets go of it while no other
/// is opening its output: what pulsesinks share goes with the last that has any, under the hands of one that is asked for
/// its volume just then.
final class KeptOutput {
    private let remains: Remains

    init(_ remains: Remains) { self.remains = remains }

    deinit { remains.free(isHeldUp: false) }
}
