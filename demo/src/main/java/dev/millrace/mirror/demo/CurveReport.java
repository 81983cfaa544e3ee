package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the curves as an HTML page that refers to nothing outside, and the picture alone as an SVG file. */
final class CurveReport {
    private static final String SUFFIX = ".html";

    private final Path html;
    private final Path svg;

    private CurveReport(Path html) {
        this.html = html;
        String name = html.getFileName().toString();
        svg = html.resolveSibling(name.substring(0, name.length() - SUFFIX.length()) + ".svg");
    }

    /**
     * Returns a report that will be written to this file and to an SVG file beside it.
     *
     * @throws MirrorException when they cannot be written, so that the user learns it before the runs
     */
    static CurveReport at(Path html) {
        Path name = html.getFileName();
        if (name == null || !name.toString().endsWith(SUFFIX)) {
            throw MirrorException.usage("--report " + html + ": a name that ends in " + SUFFIX + " is expected");
        }
        CurveReport report = new CurveReport(html.toAbsolutePath().normalize());
        Path folder = report.html.getParent();
        if (!Files.isDirectory(folder)) {
            throw MirrorException.usage("--report " + html + ": there is no folder " + folder);
        }
        try {
            // Permissions alone do not show whether the file system allows it.
            Files.delete(Files.createTempFile(folder, ".mirror", null));
        } catch (IOException e) {
            throw MirrorException.usage("--report " + html + ": the folder " + folder + " cannot be written to");
        }
        for (Path file : List.of(report.html, report.svg)) {
            if (Files.exists(file) && !(Files.isRegularFile(file) && Files.isWritable(file))) {
                throw MirrorException.usage("--report " + html + ": " + file + " cannot be overwritten");
            }
        }
        return report;
    }

    /**
     * Writes the page and the picture, and returns their paths.
     *
     * @param rows of each contender and number of threads of the plan
     */
    List<Path> write(DemoPlan plan, List<DemoRow> rows) {
        String picture = CurveChart.svg(plan, rows);
        try {
            Files.writeString(html, page(plan, rows, picture, machine()));
            Files.writeString(svg, picture);
        } catch (IOException e) {
            throw MirrorException.failed("Could not write the report", e);
        }
        return List.of(html, svg);
    }

    static String page(DemoPlan plan, List<DemoRow> rows, String picture, String machine) {
        return String.format(
                Locale.ROOT,
                """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <title>Mirror curve</title>
                <style>
                :root { color-scheme: light dark; }
                body { font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2em auto; padding: 0 1em;
                  background: #ffffff; color: #1f2328; }
                svg { width: 100%%; height: auto; }
                .scroll { overflow-x: auto; }
                table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
                th, td { padding: .3em .9em; text-align: right; border-bottom: 1px solid #d1d9e0; }
                th:last-child, td:last-child { text-align: left; }
                @media (prefers-color-scheme: dark) {
                  body { background: #0d1117; color: #e6edf3; }
                  th, td { border-color: #30363d; }
                }
                </style>
                </head>
                <body>
                <h1>How a mirror&#8217;s speed changes with its threads</h1>
                %s
                <h2>Figures</h2>
                <div class="scroll"><table>
                %s</table></div>
                <h2>What was measured</h2>
                <p>%s.</p>
                <p>%s</p>
                <p>Measured on %s. Both Kafka clusters, of one broker each, ran on the same machine.</p>
                <p>Beside the curves: <a href="https://issues.apache.org/jira/browse/KAFKA-3428">KAFKA-3428</a>, a MirrorMaker with
                %d consumer threads and one shared producer that got no faster than %,d records per second, because of the
                producer&#8217;s lock on its metadata. That was in 2016, on other hardware, with other records, so the point
                cannot be compared with the curves.</p>
                </body>
                </html>
                """,
                picture,
                table(plan, new CurveTable(plan, rows)),
                plan.load().describe(),
                escape(plan.describeMethod()),
                escape(machine),
                CurveChart.JIRA_THREADS,
                CurveChart.JIRA_RECORDS_PER_SECOND);
    }

    private static String table(DemoPlan plan, CurveTable table) {
        int contenders = plan.contenders().size();
        return "<tr><th></th><th colspan=\"" + contenders + "\">records/s</th><th colspan=\"" + contenders
                + "\">CPU ns/record</th><th></th></tr>\n"
                + row("th", "threads", table.header(), "target is")
                + plan.threads().stream()
                        .map(threads -> row("td", threads.toString(), table.figures(threads), table.verdict(threads)))
                        .collect(Collectors.joining());
    }

    private static String row(String tag, String first, List<String> figures, String verdict) {
        return Stream.concat(Stream.concat(Stream.of(first), figures.stream()), Stream.of(verdict))
                .map(cell -> "<" + tag + ">" + escape(cell) + "</" + tag + ">")
                .collect(Collectors.joining("", "<tr>", "</tr>\n"));
    }

    private static String machine() {
        return Runtime.getRuntime().availableProcessors() + " cores, " + System.getProperty("os.name") + " "
                + System.getProperty("os.arch") + ", " + System.getProperty("java.vm.name") + " "
                + System.getProperty("java.version");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
