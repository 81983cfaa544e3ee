package dev.millrace.testkit.console;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Keeps jqwik from printing, before each test class, that its database is switched off: two lines for the one of {@link
 * TestConsole}.
 *
 * <p><b>Threads:</b> the one that JUnit runs tests on.
 */
public final class QuietEngines implements LauncherSessionListener {
    /** Held here, for the levels of loggers that nobody holds are forgotten. */
    private static final Logger JQWIK = Logger.getLogger("net.jqwik");

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        JQWIK.setLevel(Level.WARNING);
    }
}
