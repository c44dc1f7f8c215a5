/**
 * The styles of the overlay. They are a constructed stylesheet inside a shadow root: the page's own styles do not
 * affect it, and a content policy that forbids inline styles does not block it.
 */

export const STYLE = `
:host { all: initial; position: fixed; inset: 8px 8px auto auto; z-index: 2147483000; display: block; }
* { box-sizing: border-box; }
.panel {
  width: min(360px, calc(100vw - 16px));
  max-height: calc(100vh - 16px); max-height: calc(100dvh - 16px); overflow: auto;
  overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: rgba(255,255,255,.2) transparent;
  padding: 12px 14px; border-radius: 12px;
  color: #e8ecf4; background: rgba(12,15,22,.86); border: 1px solid rgba(255,255,255,.09);
  box-shadow: 0 12px 40px rgba(0,0,0,.45); backdrop-filter: blur(10px);
  font: 12px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
}
header { display: flex; align-items: center; gap: 5px; margin-bottom: 6px; }
h1 { flex: 1; margin: 0; font: 600 13px/1.4 system-ui, sans-serif; letter-spacing: .02em; }
.reason { margin: 0 0 10px; color: #8d97ab; font-size: 11px; overflow-wrap: anywhere; }
.reason strong { color: #62b4ff; font-weight: 600; }
button {
  min-width: 28px; height: 28px; padding: 0 8px; white-space: nowrap;
  border: 1px solid rgba(255,255,255,.12); border-radius: 7px; color: #c9d1e0; background: rgba(255,255,255,.05);
  font: 600 11px/1 system-ui, sans-serif; cursor: pointer;
}
button:hover { background: rgba(255,255,255,.12); }
button:focus-visible, input:focus-visible { outline: 2px solid #62b4ff; outline-offset: 1px; }
button[aria-pressed="true"] { color: #0c0f16; background: #62b4ff; border-color: #62b4ff; }
button.record[aria-pressed="true"] { background: #ff6173; border-color: #ff6173; }
canvas { display: block; width: 100%; }
fieldset { padding: 0; border: 0; }
.weather {
  display: grid; margin: 4px 0 10px; grid-template-columns: auto 1fr auto; gap: 2px 10px; align-items: center;
}
.weather[hidden] { display: none; }
.weather .ways { grid-column: 1 / -1; display: flex; gap: 6px; align-items: center; margin-bottom: 4px; }
.weather .ways strong { flex: 1; }
label, output { font-size: 11px; color: #8d97ab; white-space: nowrap; }
output { min-width: 62px; text-align: right; color: #e8ecf4; font-family: ui-monospace, Menlo, Consolas, monospace; }
input[type="range"] { width: 100%; height: 24px; margin: 0; accent-color: #62b4ff; }
@media (max-width: 480px) {
  :host { inset: 4px 4px auto auto; }
  .panel { padding: 10px; width: min(340px, calc(100vw - 8px)); max-height: 55dvh; }
  button { height: 34px; }
}
`
