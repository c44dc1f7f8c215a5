/** The look of the page with the list of games: dark, one column on a phone. */

export const GAMES_STYLE = `
:root{color-scheme:dark;--ground:#0b0e14;--card:#131823;--line:#222a3a;--text:#e8ecf4;--dim:#8d98ad;--blue:#6aa8ff;
--green:#4fd18b;--amber:#f0b357;--red:#f2777a;--round:14px}
*{box-sizing:border-box}
body{margin:0;background:radial-gradient(1200px 500px at 50% -200px,#1b2540,transparent),var(--ground);
color:var(--text);font:16px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;min-height:100vh}
main{max-width:1040px;margin:0 auto;padding:28px 20px 60px}
header{display:flex;align-items:baseline;gap:14px;flex-wrap:wrap;margin-bottom:18px}
h1{font-size:30px;letter-spacing:-.02em;margin:0}
.sum{color:var(--dim)}
form{display:flex;gap:10px;flex-wrap:wrap;margin-bottom:18px}
form label{display:flex;align-items:center;gap:8px;color:var(--dim);font-size:14px}
select,form button{font:inherit;font-size:14px;color:var(--text);background:var(--card);border:1px solid var(--line);
border-radius:10px;padding:8px 12px}
form button{cursor:pointer}
select:focus-visible,button:focus-visible,a:focus-visible,input:focus-visible{outline:2px solid var(--blue);
outline-offset:2px}
ul{list-style:none;margin:0;padding:0;display:grid;gap:10px}
li{display:grid;grid-template-columns:52px minmax(0,1fr) 150px 84px 118px 108px;gap:16px;align-items:center;
background:var(--card);border:1px solid var(--line);border-radius:var(--round);padding:14px 16px}
li:hover{border-color:#33405a}
.tile{width:52px;height:52px;border-radius:12px;display:grid;place-items:center;font-weight:700;font-size:21px;
color:#fff}
.name{font-weight:650;font-size:17px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.about{color:var(--dim);font-size:14px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.seats{font-variant-numeric:tabular-nums;font-size:15px}
.bar{height:6px;border-radius:3px;background:#232b3c;margin-top:6px;overflow:hidden}
.bar i{display:block;height:100%;border-radius:3px;background:var(--green)}
.bar i.full{background:var(--red)}
.bar i.busy{background:var(--amber)}
.ping{font-variant-numeric:tabular-nums;color:var(--dim);font-size:15px;text-align:right}
.ping.good{color:var(--green)}.ping.fair{color:var(--amber)}.ping.poor{color:var(--red)}
.badge{justify-self:start;font-size:13px;border-radius:99px;padding:4px 11px;border:1px solid;white-space:nowrap}
.verified{color:var(--green);border-color:#2a5f47;background:#12261d}
.community{color:var(--blue);border-color:#2b4a78;background:#121d31}
.unverified{color:var(--amber);border-color:#69512a;background:#272012}
.join{display:block;text-align:center;text-decoration:none;background:var(--blue);color:#081224;font-weight:650;
border-radius:10px;padding:10px 0}
.join:hover{background:#8bbcff}
.off{display:block;color:var(--dim);font-size:14px;text-align:center}
.empty{border:1px dashed var(--line);border-radius:var(--round);padding:44px 20px;text-align:center;color:var(--dim)}
.empty b{display:block;color:var(--text);font-size:18px;margin-bottom:6px}
.note{background:#272012;border:1px solid #69512a;color:#f6d7a2;border-radius:10px;padding:10px 14px;margin-bottom:14px}
footer{color:var(--dim);font-size:14px;margin-top:26px}
footer a{color:var(--blue)}
code{background:#1a2130;border-radius:6px;padding:2px 6px;font-size:13px}
.w0{width:0%}.w1{width:5%}.w2{width:10%}.w3{width:15%}.w4{width:20%}.w5{width:25%}.w6{width:30%}.w7{width:35%}
.w8{width:40%}.w9{width:45%}.w10{width:50%}.w11{width:55%}.w12{width:60%}.w13{width:65%}.w14{width:70%}
.w15{width:75%}.w16{width:80%}.w17{width:85%}.w18{width:90%}.w19{width:95%}.w20{width:100%}
[data-hue="0"]{background:linear-gradient(140deg,hsl(210 62% 52%),hsl(250 62% 34%))}
[data-hue="1"]{background:linear-gradient(140deg,hsl(265 62% 52%),hsl(305 62% 34%))}
[data-hue="2"]{background:linear-gradient(140deg,hsl(160 62% 52%),hsl(200 62% 34%))}
[data-hue="3"]{background:linear-gradient(140deg,hsl(20 62% 52%),hsl(60 62% 34%))}
[data-hue="4"]{background:linear-gradient(140deg,hsl(330 62% 52%),hsl(10 62% 34%))}
[data-hue="5"]{background:linear-gradient(140deg,hsl(45 62% 52%),hsl(85 62% 34%))}
@media(max-width:760px){main{padding:20px 14px 40px}
li{grid-template-columns:44px minmax(0,1fr) auto;gap:10px 12px}
.tile{width:44px;height:44px;font-size:18px}
.about,.name{padding-right:2px}
li>div:nth-child(2){grid-column:2/4}
.ping{grid-column:2;grid-row:3;text-align:right}
.seats{grid-column:1/3}
.badge{grid-column:1/3;grid-row:3}
.action{grid-column:3;grid-row:2/4;min-width:92px}
.join{padding:13px 18px}}
`

/** Measures the time to each host, and loads the list again. The page can be read without it. */
export const GAMES_SCRIPT = `
const pings = new Map()
const show = (cell, ms) => {
  cell.textContent = ms === undefined ? '–' : Math.max(1, Math.round(ms)) + ' ms'
  cell.className = 'ping ' + (ms === undefined ? '' : ms < 60 ? 'good' : ms < 150 ? 'fair' : 'poor')
}
const measure = async (url) => {
  let best
  for (let round = 0; round < 3; round++) {
    const from = performance.now()
    const signal = AbortSignal.timeout(3000)
    await fetch(new URL('tickwire/info', url), { mode: 'no-cors', cache: 'no-store', signal })
    const ms = performance.now() - from
    // The first request opens the connection.
    if (round > 0) best = Math.min(best ?? ms, ms)
  }
  return best
}
const pingAll = async () => {
  const cells = [...document.querySelectorAll('[data-ping]')]
  // A host that does not answer must not hold up the others.
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (let cell; (cell = cells.shift()) !== undefined;) {
      const url = cell.dataset.ping
      if (!pings.has(url)) pings.set(url, await measure(url).catch(() => undefined))
      show(cell, pings.get(url))
    }
  }))
}
const reload = async () => {
  if (document.hidden) return
  const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined)
  if (!answer?.ok) return
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const id of ['sum', 'list']) document.getElementById(id).replaceWith(next.getElementById(id))
  for (const cell of document.querySelectorAll('[data-ping]'))
    if (pings.has(cell.dataset.ping)) show(cell, pings.get(cell.dataset.ping))
  await pingAll()
}
for (const each of document.querySelectorAll('form select, form input'))
  each.addEventListener('change', () => each.form.submit())
document.querySelector('form button').hidden = true
await pingAll()
setInterval(reload, 5000)
`
