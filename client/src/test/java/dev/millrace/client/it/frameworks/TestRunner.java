package dev.millrace.client.it.frameworks;

import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs the test class with the given name; the exit code is 0 if it passes. */
final class TestRunner {
    private TestRunner() {}

    public static void main(String[] arguments) {
        Launcher launcher = LauncherFactory.create();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        launcher.execute(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClass(arguments[0]))
                        .build(),
                listener);
        TestExecutionSummary summary = listener.getSummary();
        for (TestExecutionSummary.Failure failure : summary.getFailures()) {
            System.out.println("FAILED: " + failure.getTestIdentifier().getDisplayName());
            failure.getException().printStackTrace();
        }
        System.out.println(summary.getTestsSucceededCount() + " tests passed");
        System.exit(summary.getFailures().isEmpty() ? 0 : 1);
    }
}
