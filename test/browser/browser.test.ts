import { expect, test } from 'vitest'
import { BROWSER_ADVICE, findBrowser, type Machine } from './browser.ts'
import { browserTest, withBrowser } from './browser-test.ts'

/** A made-up machine on which exactly these programs exist. */
function machine(platform: string, env: Record<string, string>, ...programs: string[]): Machine {
  return { platform, env, isExecutable: (path) => programs.includes(path) }
}

test('[BROWSER1] a path in the environment comes first, and must exist', () => {
  const chrome = '/usr/bin/google-chrome'
  expect(findBrowser(machine('linux', { TICKWIRE_BROWSER: '/a', CHROME_PATH: '/b' }, '/a', '/b', chrome))).toBe('/a')
  expect(findBrowser(machine('linux', { CHROME_PATH: '/b' }, '/b', chrome))).toBe('/b')
  expect(findBrowser(machine('linux', { TICKWIRE_BROWSER: '' }, chrome))).toBe(chrome)
  expect(() => findBrowser(machine('linux', { CHROME_PATH: '/c' }, chrome))).toThrow(
    'CHROME_PATH is /c, which is not a program. Fix:',
  )
})

test('[BROWSER1] then the usual places, then PATH', () => {
  expect(findBrowser(machine('linux', { PATH: '/x:/y' }, '/y/chromium', '/usr/bin/chromium'))).toBe('/usr/bin/chromium')
  expect(findBrowser(machine('linux', { PATH: '/x:/y' }, '/y/chromium'))).toBe('/y/chromium')
  expect(findBrowser(machine('linux', { PATH: '/x:/y' }))).toBeUndefined()
  const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
  expect(findBrowser(machine('darwin', { HOME: '/Users/a' }, mac))).toBe(mac)
  expect(findBrowser(machine('darwin', { HOME: '/Users/a' }, `/Users/a${mac}`))).toBe(`/Users/a${mac}`)
  const edge = 'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe'
  expect(findBrowser(machine('win32', { 'PROGRAMFILES(X86)': 'C:\\Program Files (x86)' }, edge))).toBe(edge)
})

test('[BROWSER2] without a browser a test is skipped with advice, and fails with it under CI', async () => {
  const reasons: string[] = []
  const never = async (): Promise<void> => { throw new Error('ran without a browser') }
  await withBrowser(machine('linux', {}), (reason) => void reasons.push(reason), never)
  expect(reasons).toEqual([BROWSER_ADVICE])
  await expect(
    withBrowser(machine('linux', { CI: 'true' }), (reason) => void reasons.push(reason), never),
  ).rejects.toThrow(BROWSER_ADVICE)
  expect(reasons).toHaveLength(1)
})

browserTest('[BROWSER1] the browser that is found runs a page', async (browser) => {
  const page = await browser.newPage()
  await page.setContent('<title>hello</title>')
  expect(await page.title()).toBe('hello')
  expect(await page.evaluate(() => typeof WebSocket)).toBe('function')
})
