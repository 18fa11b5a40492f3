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
        {{#hasAnswer}}<div class="answer">{{#answer}}<p>{{.}}</p>
        {{/answer}}</div>{{/hasAnswer}}
        <div class="verdicts">
        {{#verdicts}}
        <div class="verdict-card"><h3>{{suite}}</h3>
        <div class="strip" role="img" aria-label="{{label}}"><span class="line1" style="flex-grow:{{slower}}">{{slowerLabel}}</span><span class="same" style="flex-grow:{{same}}">{{sameLabel}}</span><span class="{{style}}" style="flex-grow:{{faster}}">{{fasterLabel}}</span></div>
        <p>{{sentence}}</p>
        {{#details}}<p>{{.}}</p>
        {{/details}}</div>
        {{/verdicts}}
        </div>
        <p class="quiet">Every engine ran the same SQL on the same data, in turns, each turn in a process of its own. A figure is
        shown only where all engines gave the same answers. The native figure of a case is that of its best configuration.</p>
        {{#legend}}<p class="quiet">{{.}}</p>
        {{/legend}}
        {{#hasNotes}}<ul class="notes">
        {{#failures}}<li><strong>failed:</strong> {{.}}</li>
        {{/failures}}{{#warnings}}<li>warning: {{.}}</li>
        {{/warnings}}</ul>{{/hasNotes}}
        </section>
        {{#suites}}
        <section aria-labelledby="suite-{{number}}"><h2 id="suite-{{number}}">{{name}}</h2>
        {{#hasBars}}
        <h3>Ratios</h3>
        <p class="quiet">Logarithmic scale, each engine's greatest lead first. A bar to the right, in the engine's colour: the engine is faster than
        native SQLite. To the left, in native's colour: native is faster. The thin line is the 95% interval; where it crosses 1 there is no difference, and
        where there is no line, there were too few turns for one. A diamond is the published ratio.</p>
        <ul class="key-list keys">{{#keys}}<li><span class="swatch {{style}}" aria-hidden="true"></span>{{name}}</li>{{/keys}}</ul>
        <div class="chart">
        {{#bars}}
        <div class="bar" title="{{what}}">
        <div class="name">{{name}}</div>
        <div class="track" aria-hidden="true"><span class="one" style="left:{{one}}"></span><span class="fill {{style}}" style="left:{{left}};width:{{width}}"></span>{{#interval}}<span class="interval" style="left:{{low}};width:{{span}}"></span>{{/interval}}{{#publishedAt}}<span class="published" style="left:{{publishedAt}}"></span>{{/publishedAt}}</div>
        <div class="figure">{{label}} <span class="{{style}} verdict">{{verdict}}</span>{{#publishedLabel}} <span class="quiet aside">{{publishedLabel}}</span>{{/publishedLabel}}</div>
        </div>
        {{/bars}}
        <div class="bar axis" aria-hidden="true"><div class="name"></div><div class="track">{{#ticks}}<span class="tick" style="left:{{left}}">{{label}}</span>{{/ticks}}</div><div class="figure"></div></div>
        </div>
        {{/hasBars}}
        <h3>Times</h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Times of {{name}}"><table><thead><tr>{{#columns}}<th scope="col" class="{{style}}">{{text}}</th>{{/columns}}</tr></thead>
        <tbody>{{#rows}}<tr><th scope="row" class="text">{{head}}</th>{{#cells}}<td class="{{style}}">{{text}}</td>{{/cells}}</tr>
        {{/rows}}</tbody></table></div>
        {{#hasSizeCurves}}
        <h3>By size</h3>
        <p class="quiet">Native SQLite's time over the engine's at each size of the suite. Above 1 the engine is faster.</p>
        <div class="plots">
        {{#sizeCurves}}
        <figure class="plot"><figcaption>{{name}}</figcaption>
        <svg viewBox="0 0 360 210" role="img" aria-label="Ratio of {{name}} by size; the figures stand below">
        {{#grid}}<line class="grid" x1="56" x2="348" y1="{{y}}" y2="{{y}}"/><text x="50" y="{{baseline}}" text-anchor="end">{{text}}</text>
        {{/grid}}<line class="one" x1="56" x2="348" y1="{{one}}" y2="{{one}}"/>
        {{#labels}}<text x="{{x}}" y="198" text-anchor="{{anchor}}">{{text}}</text>
        {{/labels}}{{#lines}}<polyline class="{{style}}" points="{{points}}"/>
        {{/lines}}</svg>
        <ul class="key-list">{{#lines}}<li><span class="key {{style}}" aria-hidden="true"></span>{{engine}}: {{figures}}</li>
        {{/lines}}</ul>
        </figure>
        {{/sizeCurves}}
        </div>
        {{/hasSizeCurves}}
        {{#hasLayers}}
        <h3>Layers</h3>
        <p class="quiet">The same operations without SQL (floor), by SQLite's C calls, and by the layers above them.</p>
        <div class="scroll" tabindex="0" role="region" aria-label="Layers of {{name}}"><table><thead><tr>{{#layerColumns}}<th scope="col" class="{{style}}">{{text}}</th>{{/layerColumns}}</tr></thead>
        <tbody>{{#layerRows}}<tr><th scope="row" class="text">{{head}}</th>{{#cells}}<td class="{{style}}">{{text}}</td>{{/cells}}</tr>
        {{/layerRows}}</tbody></table></div>
        {{/hasLayers}}
        {{#hasPublished}}
        <h3>Published figures beside ours</h3>
        <p class="quiet">From other machines and years: only the ratio of two systems of one source says anything. Above 1: the
        first of the two needs less. Ours is native SQLite's time over the engine's.</p>
        <div class="scroll" tabindex="0" role="region" aria-label="Published figures of {{name}}"><table class="wraps"><thead><tr><th scope="col" class="text">case</th><th scope="col" class="text">systems</th><th scope="col">their ratio</th><th scope="col">ours</th><th scope="col" class="text">source</th></tr></thead>
        <tbody>{{#published}}<tr><th scope="row" class="text">{{name}}</th><td class="text">{{pair}}</td><td class="number">{{theirs}}</td><td class="number">{{ours}}</td><td class="text">{{source}}</td></tr>
        {{/published}}</tbody></table></div>
        {{/hasPublished}}
        {{#hasReasons}}
        <h3>Where ours falls short of what was published, and why</h3>
        <dl class="reasons">{{#reasons}}<dt>{{name}}<br><span class="quiet">{{figures}}</span></dt><dd>{{text}}</dd>
        {{/reasons}}</dl>
        {{/hasReasons}}
        {{#hasCurves}}
        <details open><summary><h3>Latency</h3></summary>
        <p class="quiet">How long an operation took, by share of the operations: to the right of 99% is the slowest hundredth.</p>
        <div class="plots">
        {{#curves}}
        <figure class="plot"><figcaption>{{name}}</figcaption>
        <svg viewBox="0 0 360 210" role="img" aria-label="Latency percentiles of {{name}}; the figures stand below">
        {{#grid}}<line class="grid" x1="56" x2="348" y1="{{y}}" y2="{{y}}"/><text x="50" y="{{baseline}}" text-anchor="end">{{text}}</text>
        {{/grid}}{{#labels}}<text x="{{x}}" y="198" text-anchor="{{anchor}}">{{text}}</text>
        {{/labels}}{{#lines}}<polyline class="{{style}}" points="{{points}}"/>
        {{/lines}}</svg>
        <ul class="key-list">{{#lines}}<li><span class="key {{style}}" aria-hidden="true"></span>{{contender}}: p50 {{p50}}, p99 {{p99}}</li>
        {{/lines}}</ul>
        <details class="more"><summary>all percentiles</summary><div class="scroll" tabindex="0" role="region" aria-label="Percentiles of {{name}}"><table><thead><tr><th scope="col" class="text">microseconds</th><th scope="col">p50</th><th scope="col">p90</th><th scope="col">p99</th><th scope="col">p99.9</th><th scope="col">max</th><th scope="col">mean</th></tr></thead>
        <tbody>{{#rows}}<tr><th scope="row" class="text">{{contender}}</th><td class="number">{{p50}}</td><td class="number">{{p90}}</td><td class="number">{{p99}}</td><td class="number">{{p999}}</td><td class="number">{{max}}</td><td class="number">{{mean}}</td></tr>
        {{/rows}}</tbody></table></div></details>
        </figure>
        {{/curves}}
        </div></details>
        {{/hasCurves}}
        <details open><summary><h3>Cost</h3></summary>
        <p class="quiet">The longest bar of a measure is its greatest figure. Peak memory counts pages of mapped files, which the
        system can take back. Sync calls are fsync, fdatasync and msync; LMDB's synced commits write their meta page through a
        descriptor that syncs by itself, one more each.</p>
        <div class="plots costs">
        {{#costs}}
        <figure class="plot cost"><figcaption>{{name}}</figcaption>
        {{#measures}}<div class="measure"><div class="measure-name">{{name}}</div>
        {{#bars}}<div class="cost-bar"><span class="who">{{contender}}</span><span class="cost-track" aria-hidden="true"><span class="cost-fill {{style}}" style="width:{{width}}"></span></span><span class="value">{{value}}</span></div>
        {{/bars}}</div>
        {{/measures}}
        </figure>
        {{/costs}}
        </div>
        <details class="more"><summary>all contenders, all counters</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Costs of {{name}}"><table><thead><tr><th scope="col" class="text">case</th><th scope="col" class="text">engine</th><th scope="col">ops/s</th><th scope="col">CPU us/op</th><th scope="col">peak memory</th><th scope="col">read calls</th><th scope="col">write calls</th><th scope="col">sync calls</th><th scope="col">page faults</th><th scope="col">store</th></tr></thead>
        <tbody>{{#costRows}}<tr><th scope="row" class="text">{{name}}</th><td class="text">{{contender}}</td><td class="number">{{rate}}</td><td class="number">{{processor}}</td><td class="number">{{resident}}</td><td class="number">{{read}}</td><td class="number">{{written}}</td><td class="number">{{syncs}}</td><td class="number">{{faults}}</td><td class="number">{{store}}</td></tr>
        {{/costRows}}</tbody></table></div>
        <p class="quiet">Read and write calls are the bytes passed to them; what goes through a memory map is not among them.</p>
        </details>
        </details>
        </section>
        {{/suites}}
        <section aria-labelledby="again"><h2 id="again">To take these figures again</h2><pre tabindex="0"><code>{{command}}</code></pre>
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
        :root{--ground:#fff;--ink:#1b1f24;--quiet:#57606a;--rule:#d0d7de;--panel:#f6f8fa;--same:#5f6871;--on:#fff;
        --l1:#a14a00;--l2:#0a6b5d;--l3:#0b5cad;--l4:#7a3e9d;--l5:#9b1c4a;--l6:#565a00;
        --l7:#c01f1f;--l8:#3a3f9e;--l9:#1d7a1d;--l10:#006f87}
        @media (prefers-color-scheme:dark){:root{--ground:#11151a;--ink:#e6e9ed;--quiet:#9aa4af;--rule:#343c46;--panel:#1a2027;
        --same:#9aa4af;--on:#11151a;--l1:#f0a35e;--l2:#4cc7b0;--l3:#79b8ff;--l4:#d2a8ff;--l5:#ff9ac1;--l6:#c9d16a;
        --l7:#ff8f85;--l8:#a6b1ff;--l9:#7fd67f;--l10:#63d2e8}}
        .line1{--own:var(--l1)}.line2{--own:var(--l2)}.line3{--own:var(--l3)}.line4{--own:var(--l4)}.line5{--own:var(--l5)}.line6{--own:var(--l6)}
        .line7{--own:var(--l7)}.line8{--own:var(--l8)}.line9{--own:var(--l9)}.line10{--own:var(--l10)}
        .same{--own:var(--same)}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;-webkit-text-size-adjust:100%}
        header,main{max-width:72rem;margin:0 auto;padding:0 1rem}main{padding-bottom:3rem}
        h1{margin:1.5rem 0 0;font-size:1.6rem;overflow-wrap:anywhere}
        h2{margin:2.5rem 0 .75rem;font-size:1.3rem;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
        h3{margin:1.5rem 0 .5rem;font-size:1.05rem;overflow-wrap:anywhere}
        p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}
        .quiet{color:var(--quiet);font-size:.9rem}
        .answer{border-left:4px solid var(--l1);padding:.1rem 0 .1rem 1rem;margin:1rem 0}
        .answer p:first-child{font-size:1.1rem}
        .verdicts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin:1rem 0}
        .verdict-card{background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:.75rem 1rem;min-width:0}
        .verdict-card h3{margin:0 0 .5rem}
        .strip{display:flex;height:1.6rem;border-radius:3px;overflow:hidden;margin:.25rem 0 .6rem}
        .strip span{flex:0 1 0;min-width:0;color:var(--on);font-size:.85rem;font-weight:600;line-height:1.6rem;text-align:center}
        .strip span:empty{display:none}.strip span{min-width:1.6rem}
        .strip span,.fill,.swatch,.cost-fill{background:var(--own)}
        .notes{background:var(--panel);padding:.75rem 1rem .75rem 2rem;overflow-wrap:anywhere;border-radius:6px}
        .scroll{overflow-x:auto;max-width:100%}
        table{border-collapse:collapse;font-size:.9rem}
        .wraps td.text{white-space:normal;min-width:9rem}.aside{white-space:nowrap}
        th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--rule);white-space:nowrap}
        thead th{font-weight:600;text-align:right;vertical-align:bottom}tbody th{font-weight:400}
        thead th.text,th.text,td.text{text-align:left}
        th.number,td.number{text-align:right;font-variant-numeric:tabular-nums}
        .bar{display:grid;grid-template-columns:13rem minmax(0,1fr) 18rem;gap:.75rem;align-items:center;min-height:2rem}
        .name{overflow-wrap:anywhere;min-width:0}
        .track{position:relative;height:1.1rem;background:var(--panel)}
        .track span{position:absolute;display:block}
        .one{top:-.45rem;bottom:-.45rem;border-left:1px solid var(--quiet)}
        .fill{top:0;bottom:0;min-width:2px}
        .interval{top:50%;border-top:2px solid var(--ink);min-width:2px;outline:1px solid var(--ground)}
        .published{top:50%;width:.6rem;height:.6rem;margin:-.3rem 0 0 -.3rem;transform:rotate(45deg);background:var(--ground);border:2px solid var(--ink)}
        .figure{font-size:.9rem;line-height:1.35;font-variant-numeric:tabular-nums;min-width:0;overflow-wrap:anywhere}
        .verdict{font-weight:600;color:var(--own)}
        .axis .track{background:none}.tick{transform:translateX(-50%);font-size:.8rem;color:var(--quiet)}
        details>summary{cursor:pointer}summary h3{display:inline-block;margin:1.5rem 0 .5rem}
        .plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:1rem;margin:.75rem 0}
        .plot{margin:0;padding:.75rem;border:1px solid var(--rule);border-radius:6px;min-width:0}
        figcaption{font-weight:600;overflow-wrap:anywhere}
        svg{width:100%;height:auto;display:block;margin:.25rem 0}
        svg text{fill:var(--quiet);font-size:12px}.grid{stroke:var(--rule)}line.one{stroke:var(--quiet)}
        polyline{fill:none;stroke:var(--own);stroke-width:2.5;stroke-linejoin:round}
        polyline.line2,polyline.line5{stroke-dasharray:7 3}polyline.line3{stroke-dasharray:12 3}
        polyline.line4,polyline.line6{stroke-dasharray:9 3 2 3}
        polyline.line7,polyline.line9{stroke-dasharray:4 3}polyline.line8,polyline.line10{stroke-dasharray:12 3 2 3}polyline.floor{stroke-dasharray:2 3}
        .key-list{list-style:none;margin:0;padding:0;font-size:.85rem}.key-list li{overflow-wrap:anywhere}
        .key{display:inline-block;width:1.5rem;margin-right:.5rem;vertical-align:middle;border-top:3px dashed var(--own)}
        .key.line1{border-top-style:solid}.key.floor{border-top-style:dotted}
        .keys{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.5rem 0}
        .swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin-right:.4rem;vertical-align:-.05rem}
        .more{font-size:.9rem;margin-top:.4rem}.more>summary{color:var(--quiet)}
        .measure{margin-top:.5rem;font-size:.85rem}.measure-name{color:var(--quiet)}
        .cost-bar{display:grid;grid-template-columns:minmax(0,7.5rem) minmax(0,1fr) 4.8rem;gap:.5rem;align-items:center}
        .who{overflow-wrap:anywhere}.value{text-align:right;font-variant-numeric:tabular-nums}
        .cost-track{display:block;height:.7rem;background:var(--panel)}.cost-fill{display:block;height:100%}
        pre{background:var(--panel);padding:.75rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;border-radius:6px}
        dl{display:grid;grid-template-columns:minmax(8rem,16rem) minmax(0,1fr);gap:.25rem 1rem}dt{color:var(--quiet)}
        dd{margin:0;overflow-wrap:anywhere;max-width:48rem}.reasons dt{color:var(--ink);font-weight:600}
        .reasons .quiet{font-weight:400}.reasons{row-gap:.75rem}
        @media (max-width:48rem){.bar{grid-template-columns:minmax(0,1fr);gap:.15rem;margin-bottom:.75rem}.axis{margin-top:.5rem}
        dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:.5rem}}
        @media print{.plot,.verdict-card,.bar{break-inside:avoid}}
        """
}
