package dev.millrace.weather;

import java.util.List;

/**
 * What there is to break in one run.
 *
 * @param gone gets what is deleted
 */
record Scene(
        Climate climate,
        Side source,
        Side target,
        List<SourceTopic> topics,
        CopiedProgress copied,
        GoneRecords gone,
        MirrorFleet fleet) {}
