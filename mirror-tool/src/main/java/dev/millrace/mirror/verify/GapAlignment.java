package dev.millrace.mirror.verify;

/**
 * Finds equal records within a gap, as a longest common subsequence, and reports the rest. A large gap is divided into
 * blocks with equally large parts of each side.
 *
 * @param ofSource the number of the source's first records in the gap
 * @param ofTarget the number of the target's first records in the gap
 */
record GapAlignment(RecordWindow here, int ofSource, RecordWindow there, int ofTarget) {
    /** The most records per side of a block, whose time, and memory at 4 bytes each, grow with the square. */
    private static final int MOST_IN_BLOCK = 1_000;

    /** Reports the gap in parts between equal records. */
    void report(FoundFaults faults) {
        int blocks = Math.max(ofSource, ofTarget) / MOST_IN_BLOCK + 1;
        // If one side has many more records, common ones are more likely near the run that closes the gap.
        int moreHere = blocks == 1 ? 0 : Math.max(0, ofSource - ofTarget - MOST_IN_BLOCK / 2);
        int moreThere = blocks == 1 ? 0 : Math.max(0, ofTarget - ofSource - MOST_IN_BLOCK / 2);
        FoundFaults.Gap first = faults.beginGap();
        addRest(first, 0, moreHere, 0, moreThere);
        faults.end(first);
        for (int block = 0; block < blocks; block++) {
            report(
                    faults,
                    moreHere + part(ofSource - moreHere, block, blocks),
                    moreHere + part(ofSource - moreHere, block + 1, blocks),
                    moreThere + part(ofTarget - moreThere, block, blocks),
                    moreThere + part(ofTarget - moreThere, block + 1, blocks));
        }
    }

    private static int part(int records, int block, int blocks) {
        return (int) ((long) records * block / blocks);
    }

    private void report(FoundFaults faults, int fromHere, int toHere, int fromThere, int toThere) {
        int[][] common = countCommon(fromHere, toHere, fromThere, toThere);
        FoundFaults.Gap gap = faults.beginGap();
        int i = fromHere;
        int j = fromThere;
        while (i < toHere && j < toThere) {
            if (here.digest(i) == there.digest(j)) {
                faults.end(gap);
                faults.onEqual(here.digest(i++));
                j++;
                gap = faults.beginGap();
            } else if (common[i + 1 - fromHere][j - fromThere] >= common[i - fromHere][j + 1 - fromThere]) {
                gap.addOfSource(here.offset(i), here.digest(i++));
            } else {
                gap.addOfTarget(there.offset(j), there.digest(j++));
            }
        }
        addRest(gap, i, toHere, j, toThere);
        faults.end(gap);
    }

    /** Returns how many records are common after each pair of places in the block. */
    private int[][] countCommon(int fromHere, int toHere, int fromThere, int toThere) {
        int[][] common = new int[toHere - fromHere + 1][toThere - fromThere + 1];
        for (int i = toHere - fromHere - 1; i >= 0; i--) {
            for (int j = toThere - fromThere - 1; j >= 0; j--) {
                common[i][j] = here.digest(fromHere + i) == there.digest(fromThere + j)
                        ? common[i + 1][j + 1] + 1
                        : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        return common;
    }

    private void addRest(FoundFaults.Gap gap, int i, int toHere, int j, int toThere) {
        for (int next = i; next < toHere; next++) {
            gap.addOfSource(here.offset(next), here.digest(next));
        }
        for (int next = j; next < toThere; next++) {
            gap.addOfTarget(there.offset(next), there.digest(next));
        }
    }
}
