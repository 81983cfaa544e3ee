package dev.millrace.jmh;

/**
 * How many operations cores do together if each operation has a part that a core does alone, and a part for which it
 * has to itself one of some places that all cores share: a lock, or the cache lines of a word that all write. It is a
 * closed queueing network, computed by mean value analysis (Reiser and Lavenberg, 1980): cores are its customers, places
 * its stations. Threads beyond the cores, the scheduler, and cores of several sockets are not in it.
 *
 * @param isLock whether the shared part is also paid by a core that is alone; a cache line then stays where it is
 * @param aloneNs duration of the part that a core does alone, nanoseconds
 * @param sharedNs duration of the shared part, nanoseconds
 */
record ScalingModel(boolean isLock, double aloneNs, double sharedNs) {
    private static final double LONGEST_NS = 1_000_000;
    private static final int HALVINGS = 60;

    /**
     * Finds the model that fits two measurements with a single place.
     *
     * @param onOneCore operations per microsecond
     * @param onAll operations per microsecond of {@code cores}, at least two
     */
    static ScalingModel fit(boolean isLock, double onOneCore, double onAll, int cores) {
        double shortest = 0;
        double longest = LONGEST_NS;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (shortest + longest) / 2;
            if (of(isLock, onOneCore, middle).opsPerUs(cores, 1) > onAll) {
                shortest = middle;
            } else {
                longest = middle;
            }
        }
        return of(isLock, onOneCore, shortest);
    }

    /** Returns the model whose shared part is the same, and which does so many operations per microsecond on one core. */
    ScalingModel withOneCore(double opsPerUs) {
        return of(isLock, opsPerUs, sharedNs);
    }

    private static ScalingModel of(boolean isLock, double onOneCore, double sharedNs) {
        double wholeNs = 1000 / onOneCore;
        return new ScalingModel(isLock, isLock ? Math.max(0, wholeNs - sharedNs) : wholeNs, sharedNs);
    }

    /** Returns the operations per microsecond of so many cores, if each operation takes one of these places at random. */
    double opsPerUs(int cores, int places) {
        // A core finds a line in its own cache if it was the last to write it.
        double serviceNs = isLock ? sharedNs : sharedNs * (cores - 1) / cores;
        double opsPerNs = 0;
        double waiting = 0;
        for (int n = 1; n <= cores; n++) {
            double inPlaceNs = serviceNs * (1 + waiting / places);
            opsPerNs = n / (aloneNs + inPlaceNs);
            waiting = opsPerNs * inPlaceNs;
        }
        return 1000 * opsPerNs;
    }
}
