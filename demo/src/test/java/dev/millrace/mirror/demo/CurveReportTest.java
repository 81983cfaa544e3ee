package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class CurveReportTest {
    @TempDir
    private Path folder;

    @Test
    void shouldWriteAPageThatNeedsNothingFromOutsideAndThePictureBesideIt() throws Exception {
        List<Path> files = CurveReport.at(folder.resolve("my.html")).write(CurveFixture.PLAN, CurveFixture.rows());

        assertThat(files).containsExactly(folder.resolve("my.html"), folder.resolve("my.svg"));
        String page = Files.readString(files.get(0));
        Document parsed = CurveChartTest.parse(page);
        assertThat(parsed.getElementsByTagName("svg").getLength()).isEqualTo(1);
        assertThat(parsed.getElementsByTagName("tr").getLength()).isEqualTo(2 + 6);
        assertThat(parsed.getElementsByTagName("script").getLength()).isZero();
        assertThat(page).doesNotContain("src=", "@import", "url(", "<link");
        assertThat(page).contains("2,000,000 records of 100 bytes", "medians of 3 rounds", "kafka.tools.MirrorMaker");
        assertThat(CurveChartTest.parse(Files.readString(files.get(1)))
                        .getDocumentElement()
                        .getTagName())
                .isEqualTo("svg");
    }

    @Test
    void shouldShowInTextWhatThePageShows() {
        String table = new CurveTable(CurveFixture.PLAN, CurveFixture.rows()).format();

        assertThat(table.lines().map(line -> line.strip().replaceAll("\\s+", " ")))
                .startsWith(
                        "records/s CPU ns/record",
                        "threads stock millrace-consumer mirrormaker1 mirrormaker1-tuned mirrormaker2"
                                + " stock millrace-consumer mirrormaker1 mirrormaker1-tuned mirrormaker2 target is",
                        "1 521,051 725,837 494,000 600,000 - 2,500 2,500 2,500 2,500 - stock, millrace-consumer exact;"
                                + " mirrormaker1, mirrormaker1-tuned every record once, partitions differ");
    }

    @Test
    void shouldKeepWhatAVerdictSaysOutOfTheMarkup() throws Exception {
        List<DemoRow> rows = new ArrayList<>(CurveFixture.rows());
        DemoRow first = rows.get(0);
        rows.set(0, new DemoRow(first.contender(), 1, first.figures(), "WRONG: 1 < 2 & 3 > 2", false));

        Document page = CurveChartTest.parse(CurveReport.page(CurveFixture.PLAN, rows, "<svg/>", "a <machine>"));

        assertThat(page.getDocumentElement().getTextContent()).contains("WRONG: 1 < 2 & 3 > 2", "a <machine>");
    }

    @Test
    void shouldRefuseAFileThatIsAFolder() throws Exception {
        Path html = Files.createDirectory(folder.resolve("taken.html"));

        assertThatThrownBy(() -> CurveReport.at(html)).hasMessageContaining("cannot be overwritten");
    }

    @Test
    void shouldRefuseAFolderThatCannotBeWrittenTo() {
        assumeThat(Path.of("/proc")).isDirectory(); // Nobody can create a file there, with any permissions.

        assertThatThrownBy(() -> CurveReport.at(Path.of("/proc/curve.html")))
                .hasMessageContaining("--report /proc/curve.html: the folder /proc cannot be written to");
    }
}
