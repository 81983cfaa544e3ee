package dev.millrace.client.support;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the test classes with the given names and prints what failed and what was skipped, with the reasons. The last line
 * has the counts; the exit code is 0 if some tests passed and none failed.
 */
public final class TestRunner {
    private TestRunner() {}

    public static void main(String[] arguments) {
        Launcher launcher = LauncherFactory.create();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        SkippedTests skippedTests = new SkippedTests();
        launcher.execute(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(Arrays.stream(arguments)
                                .map(DiscoverySelectors::selectClass)
                                .toList())
                        // ArchUnit's engine has none of these tests.
                        .filters(EngineFilter.includeEngines("junit-jupiter"))
                        .build(),
                listener,
                skippedTests);
        TestExecutionSummary summary = listener.getSummary();
        for (TestExecutionSummary.Failure failure : summary.getFailures()) {
            System.out.println("FAILED: " + describe(failure.getTestIdentifier()));
            failure.getException().printStackTrace(System.out);
        }
        skippedTests.skipped.forEach(test -> System.out.println("SKIPPED: " + test));
        long skipped = summary.getTestsSkippedCount() + summary.getTestsAbortedCount();
        System.out.println(summary.getTestsSucceededCount() + " tests passed, "
                + summary.getTotalFailureCount() + " failed, "
                + skipped + " skipped");
        System.exit(summary.getFailures().isEmpty() && summary.getTestsSucceededCount() > 0 ? 0 : 1);
    }

    private static String describe(TestIdentifier test) {
        String type = test.getUniqueIdObject().getSegments().stream()
                .filter(segment -> segment.getType().equals("class"))
                .map(UniqueId.Segment::getValue)
                .findFirst()
                .orElse("");
        return type.substring(type.lastIndexOf('.') + 1) + "." + test.getLegacyReportingName();
    }

    /** Describes the tests whose assumptions do not hold here. */
    private static final class SkippedTests implements TestExecutionListener {
        private final List<String> skipped = new ArrayList<>();

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                String reason = result.getThrowable().map(Throwable::getMessage).orElse("");
                skipped.add(describe(test) + ": " + reason);
            }
        }
    }
}
