/** The table of `tickwire bandwidth` as a picture: a bar per field, as long as its share, coloured by its entity. */

import type { BandwidthTable } from '../core/replay/bandwidth-table.ts'

const WIDTH = 760
const NAME_WIDTH = 210
const BAR_WIDTH = 400
const ROW = 22
const TOP = 58
const ROWS_MAX = 24
/** Distinguishable in print and by readers with red-green colour blindness. */
const COLOURS = ['#4e79a7', '#f28e2b', '#59a14f', '#b07aa1', '#76b7b2', '#edc948', '#9c755f', '#e15759']

interface Bar {
  readonly name: string
  readonly bits: number
  readonly colour: string
}

/** The picture, as SVG. */
export function bandwidthPicture(table: BandwidthTable, title: string): string {
  const seconds = Math.max(table.ticks / table.tickRate, 1e-9)
  const bars = barsOf(table)
  const most = Math.max(...bars.map(({ bits }) => bits), 1)
  const height = TOP + bars.length * ROW + 16
  const rows = bars.map(({ name, bits, colour }, at) => {
    const y = TOP + at * ROW
    const width = (BAR_WIDTH * bits) / most
    const share = table.bits === 0 ? 0 : (100 * bits) / table.bits
    return `<text x="${NAME_WIDTH - 8}" y="${y + 14}" text-anchor="end">${escape(name)}</text>`
      + `<rect x="${NAME_WIDTH}" y="${y + 2}" width="${width.toFixed(1)}" height="${ROW - 6}" rx="2" fill="${colour}"/>`
      + `<text x="${(NAME_WIDTH + width + 6).toFixed(1)}" y="${y + 14}" class="n">`
      + `${(bits / seconds / 1000).toFixed(2)} kbit/s, ${share.toFixed(0)} %</text>`
  })
  const kbps = (table.bits / seconds / 1000).toFixed(2)
  const every = table.snapshotTicks === 1 ? '' : `, a snapshot every ${table.snapshotTicks} ticks`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">
<style>text{font:13px system-ui,sans-serif;fill:#333}.n{fill:#777;font-size:12px}.t{font-size:15px;font-weight:600}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="16" y="24" class="t">${escape(title)}: ${kbps} kbit/s to a client that sees everything</text>
<text x="16" y="43" class="n">${table.ticks} ticks at ${table.tickRate} a second${every}, by field</text>
${rows.join('\n')}
</svg>
`
}

function barsOf(table: BandwidthTable): Bar[] {
  const bars = table.entities.flatMap((entity, at): Bar[] => {
    const colour = COLOURS[at % COLOURS.length] ?? '#777'
    return [
      ...entity.fields.map(({ path, bits }) => ({ name: path, bits, colour })),
      { name: `${entity.name} (mask)`, bits: entity.sharedBits, colour },
    ]
  })
  return bars.filter(({ bits }) => bits > 0).sort((a, b) => b.bits - a.bits).slice(0, ROWS_MAX)
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
