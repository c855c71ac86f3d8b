internal import Glibc

public enum ProcessID {
    public static var own: Int32 { getpid() }
}
