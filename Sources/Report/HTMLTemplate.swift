// The page of the HTML report: its Mustache template and its style sheet.
//
// Invariant: readable at 320 pixels and on paper, in light and dark, with and without colour vision: shades differ in
// lightness and every bar and line has its words.

enum HTMLTemplate {
    static let page = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{title}}</title>
        <style>{{{style}}}</style>
        </head>
        <body>
        <header><h1>{{title}}</h1><p class="quiet">{{date}}</p></header>
        <main>
        <section aria-labelledby="summary"><h2 id="summary">Summary</h2>
        {{#headline}}<p>{{.}}</p>
        {{/headline}}
        {{#legend}}<p class="quiet">{{.}}</p>
        {{/legend}}
        {{#hasNotes}}<ul class="notes">
        {{#failures}}<li><strong>failed:</strong> {{.}}</li>
        {{/failures}}{{#warnings}}<li>warning: {{.}}</li>
        {{/warnings}}</ul>{{/hasNotes}}
        </section>
        {{#suites}}
        <section><h2>{{name}}</h2>
        {{#hasBars}}
        <h3>Ratios</h3>
        <p class="quiet">Logarithmic scale. A bar to the right: the engine is faster than native SQLite. The thin line is the
        95% interval; where it crosses 1 there is no difference. A diamond is the published ratio.</p>
        <div class="chart">
        {{#bars}}
        <div class="bar" title="{{what}}">
        <div class="name">{{name}}</div>
        <div class="track" aria-hidden="true"><span class="one"></span><span class="fill {{style}}" style="left:{{left}};width:{{width}}"></span><span class="interval" style="left:{{low}};width:{{span}}"></span>{{#published}}<span class="published" style="left:{{published}}"></span>{{/published}}</div>
        <div class="figure">{{label}} <span class="{{style}} verdict">{{verdict}}</span>{{#publishedLabel}} <span class="quiet">{{publishedLabel}}</span>{{/publishedLabel}}</div>
        </div>
        {{/bars}}
        <div class="bar axis" aria-hidden="true"><div class="name"></div><div class="track">{{#ticks}}<span class="tick" style="left:{{left}}">{{label}}</span>{{/ticks}}</div><div class="figure"></div></div>
        </div>
        {{/hasBars}}
        <h3>Times</h3>
        <div class="scroll"><table><thead><tr>{{#columns}}<th scope="col" class="{{style}}">{{text}}</th>{{/columns}}</tr></thead>
        <tbody>{{#rows}}<tr>{{#cells}}<td class="{{style}}">{{text}}</td>{{/cells}}</tr>
        {{/rows}}</tbody></table></div>
        {{#hasLayers}}
        <h3>Layers</h3>
        <p class="quiet">The same operations without SQL (floor), by SQLite's C calls, and by the Swift API.</p>
        <div class="scroll"><table><thead><tr>{{#layerColumns}}<th scope="col" class="{{style}}">{{text}}</th>{{/layerColumns}}</tr></thead>
        <tbody>{{#layerRows}}<tr>{{#cells}}<td class="{{style}}">{{text}}</td>{{/cells}}</tr>
        {{/layerRows}}</tbody></table></div>
        {{/hasLayers}}
        <h3>Latency</h3>
        {{#curves}}
        <details><summary>{{name}}</summary>
        {{#isWorthDrawing}}
        <svg viewBox="0 0 640 220" role="img" aria-label="Latency percentiles of {{name}}; the table below has the figures">
        {{#grid}}<line class="grid" x1="60" x2="620" y1="{{y}}" y2="{{y}}"/><text x="54" y="{{y}}" dy="4" text-anchor="end">{{text}}</text>
        {{/grid}}{{#labels}}<text x="{{x}}" y="208" text-anchor="middle">{{text}}</text>
        {{/labels}}{{#lines}}<polyline class="line{{number}}" points="{{points}}"/>
        {{/lines}}</svg>
        {{/isWorthDrawing}}
        <div class="scroll"><table><thead><tr><th scope="col" class="text">microseconds</th><th scope="col">p50</th><th scope="col">p90</th><th scope="col">p99</th><th scope="col">p99.9</th><th scope="col">max</th><th scope="col">mean</th></tr></thead>
        <tbody>{{#lines}}<tr><td class="text"><span class="key line{{number}}" aria-hidden="true"></span>{{contender}}</td><td class="number">{{p50}}</td><td class="number">{{p90}}</td><td class="number">{{p99}}</td><td class="number">{{p999}}</td><td class="number">{{max}}</td><td class="number">{{mean}}</td></tr>
        {{/lines}}</tbody></table></div>
        </details>
        {{/curves}}
        <h3>Cost</h3>
        <div class="scroll"><table><thead><tr><th scope="col" class="text">case</th><th scope="col" class="text">engine</th><th scope="col">ops/s</th><th scope="col">CPU us/op</th><th scope="col">peak memory</th><th scope="col">read calls</th><th scope="col">write calls</th><th scope="col">sync calls</th><th scope="col">page faults</th><th scope="col">store</th></tr></thead>
        <tbody>{{#costs}}<tr><td class="text">{{name}}</td><td class="text">{{contender}}</td><td class="number">{{rate}}</td><td class="number">{{processor}}</td><td class="number">{{resident}}</td><td class="number">{{read}}</td><td class="number">{{written}}</td><td class="number">{{syncs}}</td><td class="number">{{faults}}</td><td class="number">{{store}}</td></tr>
        {{/costs}}</tbody></table></div>
        <p class="quiet">Peak memory counts pages of mapped files, which the system can take back. Read and write calls are the
        bytes passed to them; what goes through a memory map is not among them. Sync calls are fsync, fdatasync and msync; LMDB's synced commits write
        their meta page through a descriptor that syncs by itself, one more each.</p>
        </section>
        {{/suites}}
        <section><h2>Again</h2><pre><code>{{command}}</code></pre>
        <h3>Environment</h3>
        <dl>{{#environment}}<dt>{{name}}</dt><dd>{{value}}</dd>
        {{/environment}}</dl>
        {{#hasConfigurations}}<h3>Native configurations</h3>
        <dl>{{#configurations}}<dt>{{name}}</dt><dd>{{value}}</dd>
        {{/configurations}}</dl>{{/hasConfigurations}}
        </section>
        </main>
        </body>
        </html>
        """

    static let style = """
        :root{--ground:#fff;--ink:#1b1f24;--quiet:#57606a;--rule:#d0d7de;--panel:#f6f8fa;--faster:#0a6b5d;--slower:#a14a00;
        --same:#6e7781;--l1:#0b5cad;--l2:#b3470a;--l3:#0a6b5d;--l4:#7a3e9d}
        @media (prefers-color-scheme:dark){:root{--ground:#11151a;--ink:#e6e9ed;--quiet:#9aa4af;--rule:#343c46;--panel:#1a2027;
        --faster:#4cc7b0;--slower:#f0a35e;--same:#9aa4af;--l1:#79b8ff;--l2:#ffb074;--l3:#4cc7b0;--l4:#d2a8ff}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
        header,main{max-width:72rem;margin:0 auto;padding:0 1rem}
        h1{margin:1.5rem 0 0;font-size:1.6rem}h2{margin:2rem 0 .5rem;font-size:1.3rem;border-bottom:1px solid var(--rule)}
        h3{margin:1.5rem 0 .5rem;font-size:1.05rem}
        .quiet{color:var(--quiet);font-size:.9rem}
        .notes{background:var(--panel);padding:.75rem 1rem .75rem 2rem;overflow-wrap:anywhere}
        .scroll{overflow-x:auto}
        table{border-collapse:collapse;font-size:.9rem}
        th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--rule);white-space:nowrap}
        th{font-weight:600;text-align:right;vertical-align:bottom}th.text,td.text{text-align:left}
        td.number{text-align:right;font-variant-numeric:tabular-nums}
        .bar{display:grid;grid-template-columns:13rem 1fr 19rem;gap:.75rem;align-items:center;min-height:2rem}
        .name{overflow-wrap:anywhere}
        .track{position:relative;height:1.1rem;background:var(--panel)}
        .track span{position:absolute;display:block}
        .one{left:50%;top:-.45rem;bottom:-.45rem;border-left:1px solid var(--quiet)}
        .fill{top:0;bottom:0;min-width:2px}
        .fill.faster{background:var(--faster)}.fill.slower{background:var(--slower)}.fill.same{background:var(--same)}
        .interval{top:50%;border-top:2px solid var(--ink);min-width:2px;outline:1px solid var(--ground)}
        .published{top:50%;width:.6rem;height:.6rem;margin:-.3rem 0 0 -.3rem;transform:rotate(45deg);background:var(--ground);border:2px solid var(--ink)}
        .figure{font-size:.9rem;font-variant-numeric:tabular-nums}
        .verdict{font-weight:600}.verdict.faster{color:var(--faster)}.verdict.slower{color:var(--slower)}
        .verdict.same{color:var(--same)}
        .axis .track{background:none}.tick{transform:translateX(-50%);font-size:.8rem;color:var(--quiet)}
        details{border-bottom:1px solid var(--rule);padding:.25rem 0}summary{cursor:pointer}
        svg{width:100%;max-width:44rem;height:auto;display:block;margin:.5rem 0}
        svg text{fill:var(--quiet);font-size:12px}.grid{stroke:var(--rule)}
        polyline{fill:none;stroke-width:2.5}
        polyline.line1{stroke:var(--l1)}polyline.line2{stroke:var(--l2);stroke-dasharray:7 3}
        polyline.line3{stroke:var(--l3);stroke-dasharray:2 3}polyline.line4{stroke:var(--l4);stroke-dasharray:9 3 2 3}
        .key{display:inline-block;width:1.5rem;margin-right:.5rem;vertical-align:middle;border-top:3px solid}
        .key.line1{border-color:var(--l1)}.key.line2{border-color:var(--l2);border-top-style:dashed}
        .key.line3{border-color:var(--l3);border-top-style:dotted}.key.line4{border-color:var(--l4);border-top-style:dashed}
        pre{background:var(--panel);padding:.75rem 1rem;overflow-x:auto}
        dl{display:grid;grid-template-columns:minmax(8rem,16rem) 1fr;gap:.25rem 1rem}dt{color:var(--quiet)}
        dd{margin:0;overflow-wrap:anywhere}
        @media (max-width:48rem){.bar{grid-template-columns:1fr;gap:.15rem;margin-bottom:.75rem}.axis{margin-top:.5rem}
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
        """
}
