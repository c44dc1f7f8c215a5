/**
 * The games of `npm create tickwire` with libraries for drawing, in folders whose packages are installed once: three,
 * Pixi, Phaser, React and Rapier are 300 MB together, and no test of theirs needs a fresh copy.
 */

import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync }
  from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { ROOT } from '../../tools/typecheck.ts'
import { VERSION, type GuideRun } from './guide-run.ts'

const TEMPLATES = join(ROOT, 'packages/create-tickwire/templates')

interface Packages {
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

const packagesIn = (path: string): Packages =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) as Packages : {}

/** Installs all packages of some templates into .cache, if they are not there; returns their node_modules. */
function installPackages(guide: GuideRun, templates: readonly string[]): string {
  const manifests = [
    join(TEMPLATES, '_shared/package.json'), ...templates.map((name) => join(TEMPLATES, name, 'packages.json')),
  ].map(packagesIn)
  const own = templates.includes('peer') ? ['tickwire', 'services'] : ['tickwire']
  const needed = own.map((name) => packagesIn(join(ROOT, `packages/${name}/package.json`)).dependencies)
  const all = Object.assign({}, ...needed, ...manifests.flatMap(({ dependencies, devDependencies }) =>
    [dependencies, devDependencies])) as Record<string, string>
  // These are packed, not installed.
  for (const name of ['tickwire', '@tickwire/services']) delete all[name]
  const text = JSON.stringify({ private: true, dependencies: all })
  const folder = join(ROOT, '.cache', `templates-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`)
  if (!existsSync(folder)) {
    // Made beside its place and renamed, so that a folder of this name is always whole.
    const draft = `${folder}.${process.pid}`
    mkdirSync(draft, { recursive: true })
    writeFileSync(join(draft, 'package.json'), text)
    guide.run(draft, 'npm install --prefer-offline --no-audit --no-fund --no-package-lock')
    if (existsSync(folder)) rmSync(draft, { recursive: true })
    else renameSync(draft, folder)
  }
  return join(folder, 'node_modules')
}

/** Games made from templates by the packed program, each with the packed engine and the shared packages. */
export class TemplateStage {
  readonly #guide: GuideRun
  readonly #packages: string

  constructor(guide: GuideRun, templates: readonly string[]) {
    this.#guide = guide
    guide.copyCheckout()
    guide.run(guide.checkout, 'npm pack --workspace tickwire --pack-destination ..')
    guide.run(guide.folder, `mkdir engine && tar xzf tickwire-${VERSION}.tgz -C engine`)
    if (templates.includes('peer'))
      guide.run(guide.folder, `mkdir services && tar xzf ${guide.packServices()} -C services`)
    this.#packages = installPackages(guide, templates)
  }

  /** Makes a game; returns its folder. */
  create(template: string): string {
    const game = join(this.#guide.folder, template)
    this.#guide.run(
      ROOT, `node packages/create-tickwire/bin/create-tickwire.mjs ${game} --yes --template ${template} --no-install`,
    )
    const modules = join(game, 'node_modules')
    mkdirSync(modules)
    for (const name of readdirSync(this.#packages))
      if (name !== '.package-lock.json') symlinkSync(join(this.#packages, name), join(modules, name))
    // Our packages find theirs from where they are, so they are no links.
    cpSync(join(this.#guide.folder, 'engine/package'), join(modules, 'tickwire'), { recursive: true })
    if (template === 'peer')
      cpSync(join(this.#guide.folder, 'services/package'), join(modules, '@tickwire/services'), { recursive: true })
    return game
  }
}

/** Pixels of one hue in a part of a page: how many, and where their middle is. */
export interface Blob {
  readonly count: number
  readonly x: number
}

type Box = readonly [left: number, top: number, right: number, bottom: number]

/** Looks at the colours of pages. */
export class HueCounter {
  readonly #reader: Page

  private constructor(reader: Page) {
    this.#reader = reader
  }

  /** Opens a page of its own, which decodes pictures. */
  static async open(browser: Browser): Promise<HueCounter> {
    return new HueCounter(await browser.newPage())
  }

  /** The strong colours of a picture by hue. `hues` in degrees; the result is in their order. */
  async blobs(picture: Buffer, hues: readonly number[], box: Box): Promise<Blob[]> {
    return await this.#reader.evaluate(async ({ url, hues, box: [left, top, right, bottom] }) => {
      const bitmap = await createImageBitmap(await (await fetch(url)).blob())
      const paper = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!
      paper.drawImage(bitmap, 0, 0)
      const { data, width } = paper.getImageData(left, top, right - left, bottom - top)
      const found = hues.map(() => ({ count: 0, sum: 0 }))
      for (let at = 0; at < data.length; at += 4) {
        const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!]
        const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)]
        const chroma = most - least
        if (chroma < 60) continue
        const sector = most === r ? (g - b) / chroma : most === g ? 2 + (b - r) / chroma : 4 + (r - g) / chroma
        const hue = (sector * 60 + 360) % 360
        const which = hues.findIndex((one) => Math.abs(((hue - one + 540) % 360) - 180) < 3)
        if (which < 0) continue
        found[which]!.count++
        found[which]!.sum += left + ((at / 4) % width)
      }
      return found.map(({ count, sum }) => ({ count, x: sum / count }))
    }, { url: `data:image/png;base64,${picture.toString('base64')}`, hues, box })
  }
}
