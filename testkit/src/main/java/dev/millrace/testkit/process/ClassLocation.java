package dev.millrace.testkit.process;

import java.net.URISyntaxException;
import java.nio.file.Path;

/** Where classes come from. */
public final class ClassLocation {
    private ClassLocation() {}

    /** Returns the jar or folder that a class was loaded from. */
    public static Path of(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
