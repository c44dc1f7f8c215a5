/**
 * A pen that writes an SVG file, in the colours of the page, for light and dark schemes: the labs draw the guide's
 * pictures.
 */

import type { Pen, Point, Role } from './pen.ts'

const DAY: Record<Role, string> = {
  server: '#9a5b00',
  you: '#0068ad',
  other: '#b0226a',
  ink: '#1a2230',
  muted: '#576275',
  faint: '#b4bdcb',
  good: '#14713a',
  bad: '#c02a2a',
}
const NIGHT: Record<Role, string> = {
  server: '#f2b84b',
  you: '#4cc2ff',
  other: '#ff7eb6',
  ink: '#e7ecf4',
  muted: '#9aa7bb',
  faint: '#46536a',
  good: '#5fd38d',
  bad: '#ff7676',
}

export class SvgPen implements Pen {
  readonly width: number
  readonly height: number
  #marks = ''

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
  }

  get marks(): string {
    return this.#marks
  }

  square(x: number, y: number, size: number, role: Role, style: 'solid' | 'ghost' = 'solid'): void {
    const place = `x="${short(x - size / 2)}" y="${short(y - size / 2)}"`
    const sides = `width="${short(size)}" height="${short(size)}" rx="${short(size / 6)}"`
    this.#marks += `<rect ${place} ${sides} class="${classOf(role, style)}"/>`
  }

  dot(x: number, y: number, radius: number, role: Role, style: 'solid' | 'ghost' = 'solid'): void {
    this.#marks += `<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" class="${classOf(role, style)}"/>`
  }

  path(points: readonly Point[], role: Role, style: 'solid' | 'dashed' = 'solid'): void {
    const places = points.map(([x, y]) => `${short(x)},${short(y)}`).join(' ')
    const dashes = style === 'dashed' ? ' stroke-dasharray="3"' : ''
    this.#marks += `<polyline points="${places}" class="line ${role}"${dashes}/>`
  }

  text(words: string, x: number, y: number, role: Role, align: 'left' | 'center' | 'right' = 'left'): void {
    const anchor = align === 'left' ? '' : ` text-anchor="${align === 'center' ? 'middle' : 'end'}"`
    const escaped = words.replace(/[&<]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    this.#marks += `<text x="${short(x)}" y="${short(y)}" class="fill ${role}"${anchor}>${escaped}</text>`
  }
}

/** The SVG document around the shapes. */
export function svgPicture(width: number, height: number, title: string, marks: string): string {
  const colors = (of: Record<Role, string>): string =>
    Object.entries(of)
      .map(([role, color]) => `.${role}{--c:${color}}`)
      .join('')
  const frame = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${frame}><title>${title}</title><style>
.fill{fill:var(--c)}.line{fill:none;stroke:var(--c);stroke-width:1.5}.line.faint{stroke-width:.75}.field{fill:#f4f5f8}.page{fill:#fff}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}.title{font:600 14px system-ui,sans-serif}
${colors(DAY)}
@media (prefers-color-scheme:dark){.field{fill:#0f141d}.page{fill:#141923}${colors(NIGHT)}}
</style>${marks}</svg>
`
}

function classOf(role: Role, style: 'solid' | 'ghost'): string {
  return `${style === 'solid' ? 'fill' : 'line'} ${role}`
}

/** Rounded to a tenth of a pixel. */
function short(value: number): string {
  return `${Math.round(value * 10) / 10}`
}
