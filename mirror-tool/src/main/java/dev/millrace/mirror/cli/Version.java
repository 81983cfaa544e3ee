package dev.millrace.mirror.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the tool's jar. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {"mirror " + (version == null ? "(not from a jar)" : version)};
    }
}
