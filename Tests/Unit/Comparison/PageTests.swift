import Foundation
import Testing

@testable import Comparison
@testable import Report
@testable import Workloads

/// The HTML report as a browser shows it: screenshots to look at (build/page), and what a script can measure.
///
/// The page itself has no script; the one here is added for the test. `ROOTSTOCK_CHROMIUM` names another browser.
@Suite(.serialized) struct PageTests {
    static let chromium: String? = {
        let named = ProcessInfo.processInfo.environment["ROOTSTOCK_CHROMIUM"].map { [$0] } ?? []
        return (named + ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"])
            .first(where: FileManager.default.isExecutableFile)
    }()

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    struct Look: Sendable, CustomTestStringConvertible {
        var name: String
        var width: Int
        var isDark: Bool
        /// Pictures are of the plain report; the crowded one is only measured.
        var isPictured = true
        var testDescription: String { name }
    }

    static let looks = [
        Look(name: "light", width: 1200, isDark: false), Look(name: "dark", width: 1200, isDark: true),
        Look(name: "phone", width: 360, isDark: false),
        Look(name: "crowded", width: 1200, isDark: false, isPictured: false),
        Look(name: "crowded tablet", width: 780, isDark: true, isPictured: false),
        Look(name: "crowded phone", width: 360, isDark: false, isPictured: false),
    ]

    @Test(
        .enabled(
            if: chromium != nil, "SKIPPED: no Chromium to look at the page with; on Debian: apt-get install chromium"),
        arguments: looks)
    func everyPlotHasMarksAndNoTextOverlapsOrOverflows(look: Look) throws {
        let report = look.isPictured ? try Self.full() : try Self.crowded()
        let findings = try Self.findings(try report.html(), look, picture: look.isPictured ? look.name : nil)
        #expect(findings.problems == [], "\(look.name)")
        #expect(findings.isDark == look.isDark && findings.width == look.width)
        #expect(findings.plots >= 3 * report.summaries.count, "ratio bars, curves and costs of each case")
        #expect(findings.texts > 300)
    }

    /// The measuring finds what it is for: each fault, put into the page, is reported.
    @Test(.enabled(if: chromium != nil, "SKIPPED: no Chromium"))
    func theMeasuringFindsFaults() throws {
        let look = Look(name: "fault", width: 360, isDark: false)
        let faults = [
            (
                #"<div style="position:relative;height:2rem"><i style="position:absolute">one text</i>"#
                    + #"<b style="position:absolute">on another</b></div>"#, "overlap"
            ),
            (#"<p style="width:900px">wide</p>"#, "wider than the window"),
            (#"<p style="color:#999">faint</p>"#, "contrast"),
            (#"<svg role="img" aria-label="a" viewBox="0 0 9 9"></svg>"#, "no mark"),
            (#"<svg viewBox="0 0 9 9"><polyline points="1,1 5,5"/></svg>"#, "text alternative"),
            (
                #"<svg role="img" aria-label="a" viewBox="0 0 90 9"><text x="80" y="8">out of it</text></svg>"#,
                "outside of its box"
            ),
        ]
        let page = try Self.full().html()
            .replacingOccurrences(of: "<main>", with: "<main>" + faults.map(\.0).joined())
        let problems = try Self.findings(page, look, picture: nil).problems
        for (fault, words) in faults { #expect(problems.contains { $0.contains(words) }, "\(fault): \(problems)") }
    }

    // MARK: Reports

    static func full() throws -> ComparisonReport {
        try ComparisonReport.read(
            root.appendingPathComponent("Tests/Fixtures/comparison-report.json").path)
    }

    /// Long names, several native configurations and engines, failures, warnings, an answer: what may not fit.
    static func crowded() throws -> ComparisonReport {
        var report = try full()
        let long = "tags with notes that are not archived, by the lookup's own column"
        for index in report.cases.indices where index % 5 == 0 {
            let name = report.cases[index].case
            let new = "\(long) \(index)"
            report.cases[index].case = new
            for place in report.results.indices where report.results[place].case == name {
                report.results[place].case = new
            }
            for place in report.ratios.indices where report.ratios[place].case == name {
                report.ratios[place].case = new
                report.ratios[place].ratio = 1 / 450
                report.ratios[place].low = 1 / 900
                report.ratios[place].high = 1 / 300
            }
        }
        for result in report.results where result.engine == "lmdb" {
            var control = result
            control.engine = "sqlite-btree"
            control.seconds *= 2
            control.curve = control.curve.map {
                CurvePoint(percentile: $0.percentile, microseconds: $0.microseconds * 9)
            }
            control.cost.storeBytes = nil
            control.cost.syncCalls = nil
            report.results.append(control)
        }
        for ratio in report.ratios where ratio.engine == "lmdb" {
            var control = ratio
            control.engine = "sqlite-btree"
            control.published = nil
            report.ratios.append(control)
        }
        report.warnings.append("a/very/long/path/without/any/blank/" + String(repeating: "directory/", count: 20))
        report.failures = [
            Failure(
                suite: "engine", case: long, contender: "sqlite-btree", message: "answers differ: 00ff00ff is not ff00")
        ]
        report.environment.command += " --engines sqlite,lmdb,sqlite-btree --configuration default,wal,tuned,leveldb"
        report.ownData = OwnDataDescription(
            database: "engine", databaseBytes: 1 << 30, tables: 12, rows: 1_000_000,
            skipped: ["table search: a virtual table of module fts5 is not kept in a store"],
            operations: [.init(name: "open article", weight: 20, executions: 500)])
        return report
    }

    // MARK: The browser

    struct Findings: Codable {
        var problems: [String]
        var plots: Int
        var texts: Int
        var width: Int
        var isDark: Bool
    }

    /// Shows a page in a frame of the look's width and measures it. With a name for it, a screenshot is kept.
    static func findings(_ html: String, _ look: Look, picture name: String?) throws -> Findings {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let measured = html.replacingOccurrences(of: "</body>", with: "<script>\(script)</script></body>")
        let escaped = measured.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(
            of: "\"", with: "&quot;")
        let frame = """
            <!DOCTYPE html><html style="color-scheme:light dark"><meta charset="utf-8"><body style="margin:0"><iframe \
            style="border:0;display:block;width:\(look.width)px;height:6000px" srcdoc="\(escaped)"></iframe></body></html>
            """
        let file = directory.appendingPathComponent("frame.html")
        try Data(frame.utf8).write(to: file)
        let common = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-extensions",
            "--user-data-dir=\(directory.appendingPathComponent("profile").path)",
            "--window-size=\(max(look.width, 500)),6000",
            "--blink-settings=preferredColorScheme=\(look.isDark ? 0 : 1)", "--virtual-time-budget=3000",
        ]
        let dom = try browse(common + ["--dump-dom", file.absoluteString])
        if let name {
            let place = root.appendingPathComponent("build/page")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let picture = place.appendingPathComponent("\(name).png")
            try? FileManager.default.removeItem(at: picture)
            _ = try browse(common + ["--screenshot=\(picture.path)", file.absoluteString])
            let bytes = try FileManager.default.attributesOfItem(atPath: picture.path)[.size] as? Int
            #expect(bytes ?? 0 > 50_000, "the screenshot is empty")
        }
        let start = try #require(dom.range(of: "FINDINGS["), "the page was not measured")
        let end = try #require(dom.range(of: "]FINDINGS"))
        let text = String(dom[start.upperBound..<end.lowerBound])
        let json = try #require(Data(base64Encoded: text))
        return try JSONDecoder().decode(Findings.self, from: json)
    }

    private static func browse(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(chromium))
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "the browser ended with \(process.terminationStatus)")
        return String(decoding: data, as: UTF8.self)
    }

    /// Measures the page it runs in and leaves what it found, in base 64, in the page around it.
    private static let script = #"""
        window.addEventListener('load', () => {
          const problems = [], say = text => problems.length < 30 && problems.push(text);
          const shown = e => e.checkVisibility ? e.checkVisibility() : e.offsetParent !== null;
          const short = text => text.trim().replace(/\s+/g, ' ').slice(0, 60);
          if (document.documentElement.scrollWidth > innerWidth)
            say(`the page is wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);

          // Every piece of text as it is laid out, line by line.
          const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          for (let node; (node = walker.nextNode());) {
            const parent = node.parentElement;
            if (!node.data.trim() || !shown(parent) || parent.closest('script,style')) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const scroll = parent.closest('.scroll');
            for (const r of range.getClientRects()) {
              if (r.width < 1 || r.height < 1) continue;
              if (!scroll && (r.right > innerWidth + 1 || r.left < -1)) say(`text wider than the window: ${short(node.data)}`);
              texts.push({ r, parent, text: short(node.data), scroll });
            }
          }
          texts.sort((a, b) => a.r.top - b.r.top);
          for (let i = 0; i < texts.length; i++)
            for (let j = i + 1; j < texts.length && texts[j].r.top < texts[i].r.bottom - 4; j++) {
              const a = texts[i], b = texts[j];
              if (a.parent === b.parent && !a.parent.closest('svg')) continue;
              const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
              const tall = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
              // Line boxes of text that follows text in one paragraph share their leading.
              if (wide > 1.5 && tall > 5) say(`texts overlap: "${a.text}" and "${b.text}"`);
            }

          // A text stays inside of the box that is drawn around it.
          for (const t of texts) {
            const box = t.parent.closest('svg,.plot,.verdict-card,.strip span,.cost-bar > span,.bar > div');
            if (!box || t.scroll) continue;
            const b = box.getBoundingClientRect();
            if (t.r.left < b.left - 1.5 || t.r.right > b.right + 1.5 || t.r.top < b.top - 3 || t.r.bottom > b.bottom + 3)
              if (!t.parent.classList.contains('tick')) say(`text outside of its box: "${t.text}"`);
          }

          // Contrast of each text with what lies behind it.
          const parse = text => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
          const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
            return .2126 * r + .7152 * g + .0722 * b; };
          const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
          const judged = new Set();
          for (const t of texts) {
            const style = getComputedStyle(t.parent);
            const colour = t.parent.closest('svg') ? style.fill : style.color, ground = behind(t.parent);
            if (judged.has(colour + ground)) continue;
            judged.add(colour + ground);
            const [a, b] = [light(parse(colour).slice(0, 3)), light(ground.slice(0, 3))];
            const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (contrast < 4.5) say(`contrast ${contrast.toFixed(2)} of "${t.text}", ${colour} on ${ground}`);
          }

          // Every plot has marks, and words for who cannot see it.
          let plots = 0;
          const marks = (plot, selector) => {
            plots++;
            const seen = [...plot.querySelectorAll(selector)].filter(m => {
              const r = m.getBoundingClientRect(); return r.width > .5 && (r.height > .5 || m.tagName === 'polyline'); });
            if (!seen.length) say(`a plot has no mark: ${short(plot.closest('.plot,.bar,section,main').textContent)}`);
          };
          document.querySelectorAll('.bar:not(.axis)').forEach(p => { marks(p, '.fill');
            if (!p.querySelector('.figure').textContent.trim()) say('a bar has no figure'); });
          document.querySelectorAll('svg').forEach(p => { marks(p, 'polyline');
            if (p.getAttribute('role') !== 'img' || !p.getAttribute('aria-label')) say('a drawing has no text alternative'); });
          document.querySelectorAll('.plot.cost').forEach(p => marks(p, '.cost-fill'));
          document.querySelectorAll('.strip').forEach(p => { marks(p, 'span');
            if (!p.getAttribute('aria-label')) say('a strip has no text alternative'); });
          document.querySelectorAll('.cost-bar').forEach(p => {
            if (!p.querySelector('.value').textContent.trim()) say('a cost bar has no figure'); });
          if (!document.documentElement.lang || !document.title) say('the page has no language or no title');
          let level = 1;
          document.querySelectorAll('h1,h2,h3,h4').forEach(h => { const l = +h.tagName[1];
            if (l > level + 1) say(`a heading skips a level: ${h.textContent}`); level = l; });

          const found = { problems, plots, texts: texts.length, width: innerWidth,
            isDark: matchMedia('(prefers-color-scheme: dark)').matches };
          const place = parent.document.createElement('pre');
          place.textContent = 'FIND' + 'INGS[' + btoa(unescape(encodeURIComponent(JSON.stringify(found)))) + ']FIND' + 'INGS';
          parent.document.body.append(place);
        });
        """#
}
