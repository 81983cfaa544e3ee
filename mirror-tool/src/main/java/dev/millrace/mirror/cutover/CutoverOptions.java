package dev.millrace.mirror.cutover;

import java.time.Duration;
import java.util.Set;

/**
 * What an operator chooses.
 *
 * @param isToBeDone whether to do the steps; otherwise each only says what it finds
 * @param isFenced whether writers are denied writing at the source by ACLs
 * @param fenceExceptions principals that may still write
 * @param abortsTransactions whether transactions are aborted that are open though nobody writes
 * @param quiet for how long no partition may grow before the source counts as written to by nobody
 * @param giveUpAfter how long to wait for writers and the mirror, then for the groups, and then for the end of the mirror
 * @param again how many records a group may see again in a partition
 * @param verify how much is compared
 * @param isWayBackKept whether a mirror back is prepared
 */
public record CutoverOptions(
        boolean isToBeDone,
        boolean isFenced,
        Set<String> fenceExceptions,
        boolean abortsTransactions,
        Duration quiet,
        Duration giveUpAfter,
        long again,
        VerifyExtent verify,
        boolean isWayBackKept) {}
