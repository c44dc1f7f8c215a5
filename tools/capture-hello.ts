/**
 * Takes the README's picture: hello in two tabs of a real browser, against a real server, walked by real keys.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-hello.ts
 *
 * The windows around the two pages are drawn once, before anybody plays; then both pages play, each is asked for its
 * canvas twenty times a second, and what they gave is laid into the windows by the clock. Nothing is staged but the
 * walk. Writes docs/pictures/hello.png, an animated PNG.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import type { ObjectOf } from 'tickwire'
import { serve, type Serving } from 'tickwire/node'
import { game, Player } from '../games/hello/game.ts'
import { launchBrowser } from '../test/browser/browser.ts'
import { encodeApng, type Pixels } from './apng.ts'
import { buildPage } from './page.ts'

type Walker = ObjectOf<typeof Player>
type Place = readonly [x: number, y: number]

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PICTURE = join(ROOT, 'docs/pictures/hello.png')
const FRAME_MS = 50
/** Two ticks of walking: a key is released that much earlier, because the server receives it that much later. */
const NEAR = 12
/** The size of a tab, and the scale of its picture. */
const TAB = { width: 680, height: 460, scale: 0.6 }
const WALKS: readonly [first: readonly Place[], second: readonly Place[]] = [
  [[180, 90], [460, 90], [460, 270], [180, 270], [180, 90]],
  [[560, 180], [470, 270], [320, 270], [230, 180], [320, 90], [470, 90], [560, 180]],
]

const folder = join(ROOT, 'games/hello')
await buildPage(folder)
const host = await serve(game, { port: 0, static: join(folder, 'public') })
const browser = await launchBrowser()
try {
  const stage = await drawStage(browser, host)
  const frames = await play(browser, host, stage)
  const picture = encodeApng(frames, FRAME_MS)
  mkdirSync(dirname(PICTURE), { recursive: true })
  writeFileSync(PICTURE, picture)
  console.log(`${frames.length} frames, ${(picture.length / 1024).toFixed(0)} KiB: ${PICTURE}`)
} finally {
  await browser.close()
  await host.close()
}

/** The two windows with the page in them, before the game starts, and the place of its canvas in each. */
interface Stage {
  readonly pixels: Pixels
  readonly canvases: readonly {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }[]
}

async function drawStage(using: Browser, { url }: Serving): Promise<Stage> {
  const width = Math.round(TAB.width * TAB.scale) * 2 + 40
  const height = Math.round(TAB.height * TAB.scale) + 52
  const page = await using.newPage({ viewport: { width, height } })
  await page.route('**/client.js', async (route) => await route.abort())
  const frame = `<iframe src="${url}" width="${TAB.width}" height="${TAB.height}"></iframe>`
  const tab = `<section><header>localhost:4000</header>${frame}</section>`
  await page.setContent(`<style>
    body { margin: 0; display: flex; justify-content: space-evenly; align-items: center; height: 100vh }
    section { border-radius: 10px; overflow: hidden; background: #2a3142; border: 1px solid #3d465c }
    header { font: 13px/30px monospace; color: #aab4c8; text-align: center }
    iframe { border: 0; display: block; zoom: ${TAB.scale} }
  </style>${tab}${tab}`, { waitUntil: 'networkidle' })
  const tabs = page.frames().filter((frame) => frame !== page.mainFrame())
  const canvases = await Promise.all(
    tabs.map(async (frame) => {
      const outer = await (await frame.frameElement()).boundingBox()
      const {
        x,
        y,
        width: wide,
        height: high,
      } = await frame.locator('canvas').evaluate((canvas) => canvas.getBoundingClientRect().toJSON())
      const shown = (base: number, length: number): number => Math.round(base + length * TAB.scale)
      return { x: shown(outer?.x ?? 0, x), y: shown(outer?.y ?? 0, y), width: shown(0, wide), height: shown(0, high) }
    }),
  )
  const png = await page.screenshot({ omitBackground: true })
  await page.close()
  return { pixels: await decodePng(using, png, width, height), canvases }
}

/** The browser decodes its own encoding. */
async function decodePng(using: Browser, png: Buffer, width: number, height: number): Promise<Pixels> {
  const page = await using.newPage()
  const rgba = await page.evaluate(async ({ source, size }) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const canvas = new OffscreenCanvas(size.width, size.height).getContext('2d')!
    canvas.drawImage(image, 0, 0)
    return [...canvas.getImageData(0, 0, size.width, size.height).data]
  }, { source: `data:image/png;base64,${png.toString('base64')}`, size: { width, height } })
  await page.close()
  return { width, height, rgba: Uint8Array.from(rgba) }
}

/** Plays the walk, and returns the pictures, frame by frame. */
async function play(using: Browser, serving: Serving, stage: Stage): Promise<Pixels[]> {
  const pages = [await using.newPage(), await using.newPage()] as const
  for (const page of pages) await page.goto(serving.url)
  const walkers = (): Walker[] => [...serving.host.world.each(Player)]
  while (walkers().length < 2) await pause(20)
  const [first, second] = walkers() as [Walker, Walker]

  await Promise.all([walk(pages[0], first, WALKS[0].slice(0, 1)), walk(pages[1], second, WALKS[1].slice(0, 1))])
  await pause(300)
  const startedAt = Date.now()
  const recordings = stage.canvases.map(async (box, at) => await startRecording(pages[at]!, box))
  await Promise.all(recordings)
  await Promise.all([walk(pages[0], first, WALKS[0]), walk(pages[1], second, WALKS[1])])
  await pause(200)
  const endedAt = Date.now()
  const draws = [await stopRecording(pages[0]), await stopRecording(pages[1])]

  const beganAt = Math.max(startedAt, ...draws.map((list) => list[0]?.at ?? startedAt))
  const frames: Pixels[] = []
  for (let at = beganAt; at < endedAt; at += FRAME_MS) {
    const seen = draws.map((list) => list.findLast((draw) => draw.at <= at) ?? list[0]!)
    frames.push(compose(stage, seen.map((draw) => draw.rgba)))
  }
  return frames
}

/** Walks as a player would: holds keys until the place is reached. A small overshoot is accepted. */
async function walk(page: Page, walker: Walker, places: readonly Place[]): Promise<void> {
  for (const [x, y] of places) {
    await Promise.all([
      holdUntil(page, x > walker.x ? 'ArrowRight' : 'ArrowLeft', () => x - walker.x),
      holdUntil(page, y > walker.y ? 'ArrowDown' : 'ArrowUp', () => y - walker.y),
    ])
  }
}

/** Holds a key until the rest of the way is zero or has changed its sign. */
async function holdUntil(page: Page, key: string, wayLeft: () => number): Promise<void> {
  const direction = Math.sign(wayLeft())
  if (Math.abs(wayLeft()) < NEAR) return
  await page.keyboard.down(key)
  while (wayLeft() * direction >= NEAR) await pause(4)
  await page.keyboard.up(key)
}

interface Draw {
  readonly at: number
  readonly rgba: Uint8Array
}

/** Copies the canvas of the page, at its displayed size, until it is stopped. */
async function startRecording(page: Page, size: { readonly width: number; readonly height: number }): Promise<void> {
  await page.evaluate(({ width, height, everyMs }) => {
    const game = document.querySelector('canvas')!
    const small = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!
    const draws: { at: number; pixels: Uint8ClampedArray }[] = []
    const timer = setInterval(() => {
      small.clearRect(0, 0, width, height)
      small.drawImage(game, 0, 0, width, height)
      draws.push({ at: Date.now(), pixels: small.getImageData(0, 0, width, height).data })
    }, everyMs)
    Object.assign(window, { recording: { draws, timer } })
  }, { ...size, everyMs: FRAME_MS / 2 })
}

async function stopRecording(page: Page): Promise<Draw[]> {
  const draws = await page.evaluate(async () => {
    const { recording } = window as unknown as {
      recording: { draws: { at: number; pixels: Uint8ClampedArray<ArrayBuffer> }[]; timer: number }
    }
    clearInterval(recording.timer)
    return await Promise.all(recording.draws.map(async ({ at, pixels }) => {
      const packed = new Blob([pixels]).stream().pipeThrough(new CompressionStream('deflate'))
      return { at, bytes: [...new Uint8Array(await new Response(packed).arrayBuffer())] }
    }))
  })
  return draws.map(({ at, bytes }) => ({ at, rgba: inflateSync(Uint8Array.from(bytes)) }))
}

/** Draws the pictures of the canvases into the windows. */
function compose({ pixels, canvases }: Stage, seen: readonly Uint8Array[]): Pixels {
  const rgba = pixels.rgba.slice()
  for (const [tab, box] of canvases.entries()) {
    for (let at = 0; at < box.width * box.height; at++) {
      const source = seen[tab]!.subarray(at * 4, at * 4 + 4)
      const alpha = source[3]! / 255
      if (alpha === 0) continue
      const target = ((box.y + Math.floor(at / box.width)) * pixels.width + box.x + (at % box.width)) * 4
      for (let part = 0; part < 3; part++)
        rgba[target + part] = Math.round(source[part]! * alpha + rgba[target + part]! * (1 - alpha))
    }
  }
  return { ...pixels, rgba }
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
