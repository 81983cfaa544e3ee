package dev.millrace.mirror.verify;

/**
 * Searches the rest of either side for a run that comes next on the other side, after many consecutive records that
 * only one side has. Reads both sides at the same pace, so the effort is proportional to the distance. The caller seeks
 * back.
 */
final class FarSearch {
    private final int chunk;
    private final int needed;

    /**
     * @param chunk records read from one side before the other's turn
     * @param needed equal records in a row
     */
    FarSearch(int chunk, int needed) {
        this.chunk = chunk;
        this.needed = needed;
    }

    /** The number of records before the run on each side. */
    record Found(long sourceRecords, long targetRecords) {}

    /**
     * Searches after the windows. Returns null if there is no such run.
     *
     * @param here the next records of the source; does not change
     * @param there those of the target; does not change
     */
    Found find(RecordStream source, RecordWindow here, RecordStream target, RecordWindow there) {
        Scan ofSource = new Scan(source, here.size(), there, target.isAtEnd());
        Scan ofTarget = new Scan(target, there.size(), here, source.isAtEnd());
        while (!ofSource.isEnded || !ofTarget.isEnded) {
            int inTarget = ofSource.findNext();
            if (inTarget >= 0) {
                return new Found(ofSource.passed, inTarget);
            }
            int inSource = ofTarget.findNext();
            if (inSource >= 0) {
                return new Found(inSource, ofTarget.passed);
            }
        }
        return null;
    }

    private final class Scan {
        private final RecordStream stream;
        private final DigestIndex wanted;
        private final boolean isWantedAtEnd;
        private final RecordWindow ahead = new RecordWindow();
        private long passed;
        private boolean isEnded;

        Scan(RecordStream stream, long passed, RecordWindow wanted, boolean isWantedAtEnd) {
            this.stream = stream;
            this.passed = passed;
            this.wanted = new DigestIndex(wanted);
            this.isWantedAtEnd = isWantedAtEnd;
        }

        /** Reads on and returns the place of the run in the wanted window if it is there; else −1. */
        int findNext() {
            if (isEnded) {
                return -1;
            }
            stream.fill(ahead, chunk);
            isEnded = stream.isAtEnd();
            // The last records are checked again together with those that follow.
            int searched = isEnded ? ahead.size() : Math.max(0, ahead.size() - needed);
            for (int i = 0; i < searched; i++) {
                int place = wanted.findRun(ahead, i, isEnded, isWantedAtEnd, needed, Integer.MAX_VALUE);
                if (place >= 0) {
                    passed += i;
                    return place;
                }
            }
            ahead.drop(searched);
            passed += searched;
            return -1;
        }
    }
}
