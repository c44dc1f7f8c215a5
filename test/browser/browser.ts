/**
 * A real browser for tests: finds one that is installed and starts it headless, with a fresh profile.
 *
 * It downloads nothing. `npm test` may install Debian's chromium first (`tools/browser-install.ts`); where there is no
 * browser all the same, tests (`browser-test.ts`) are skipped and say what to do, and under CI they fail.
 */

import { accessSync, constants, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** What to do when there is none. */
export const BROWSER_ADVICE = `No browser was found. Fix: install Chrome, Chromium or Edge (on Debian and Ubuntu, as \
root: apt-get install chromium), or set TICKWIRE_BROWSER to the path of one.`

/** Where a browser is looked for: the environment and the disk, as parameters so that a test can furnish them. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
  isExecutable(path: string): boolean
}

/** This machine. */
export const thisMachine: Machine = { env: process.env, platform: process.platform, isExecutable }

const PATH_NAMES = [
  'google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser', 'microsoft-edge', 'microsoft-edge-stable',
]
const LINUX_PLACES = [
  '/usr/bin/google-chrome', '/opt/google/chrome/chrome', '/usr/bin/chromium', '/usr/lib/chromium/chromium',
  '/usr/bin/chromium-browser', '/snap/bin/chromium', '/usr/bin/microsoft-edge', '/opt/microsoft/msedge/msedge',
]
const MAC_NAMES = ['Google Chrome', 'Chromium', 'Microsoft Edge']
const MAC_PLACES = MAC_NAMES.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)
const WINDOWS_ROOTS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']
const WINDOWS_PLACES = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
]

/** The path of a browser, or undefined. A named path that does not exist throws. */
export function findBrowser(machine: Machine = thisMachine): string | undefined {
  for (const name of ['TICKWIRE_BROWSER', 'CHROME_PATH']) {
    const named = machine.env[name]
    if (named === undefined || named === '') continue
    if (machine.isExecutable(named)) return named
    throw new Error(`${name} is ${named}, which is not a program. Fix: correct it, or unset it.`)
  }
  return candidates(machine).find((path) => machine.isExecutable(path))
}

function candidates({ env, platform }: Machine): string[] {
  if (platform === 'win32') {
    const roots = WINDOWS_ROOTS.flatMap((name) => env[name] ?? [])
    return WINDOWS_PLACES.flatMap((place) => roots.map((root) => win32.join(root, place)))
  }
  const ownPlaces = MAC_PLACES.map((place) => posix.join(env.HOME ?? '/', place))
  const places = platform === 'darwin' ? [...MAC_PLACES, ...ownPlaces] : LINUX_PLACES
  const folders = (env.PATH ?? '').split(':').filter((folder) => folder !== '')
  return [...places, ...PATH_NAMES.flatMap((name) => folders.map((folder) => posix.join(folder, name)))]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Quiet and isolated: no updates, no sync, no connections but those of the page under test. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-sync',
  '--metrics-recording-only',
  // Pages in the background must keep their timers and frames: a second player is a second page.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
]

/** On a busy machine. */
const LAUNCH_MS_MAX = 90_000

/** Starts the browser that was found. The caller closes it; its profile goes with it. */
export async function launchBrowser(machine: Machine = thisMachine): Promise<Browser> {
  const path = findBrowser(machine)
  if (path === undefined) throw new Error(BROWSER_ADVICE)
  return await chromium.launch({ executablePath: path, headless: true, args: ARGS, timeout: LAUNCH_MS_MAX })
}
