/**
 * A browser for the browser tests, and tools for the tests of NAT traversal, where the machine has none: Debian's own
 * packages, if we may install them.
 *
 * Only `npm test` calls this. It never touches a machine that has a browser, where we are not root, or that has no
 * apt-get; the tests then say what to do.
 */

import { spawnSync } from 'node:child_process'
import { findBrowser } from '../test/browser/browser.ts'

/** Installs chromium when there is no browser and it may. Says so before, and how it went after. */
export function ensureBrowser(): void {
  if (findBrowser() !== undefined || process.getuid?.() !== 0 || !hasAptGet()) return
  console.log('No browser was found: installing Debian\'s chromium with apt-get, for the browser tests.')
  // The package lists of a fresh container are empty, and those of an image may be of months ago: then a browser would
  // be, too. Where they cannot be had, older ones will do.
  aptGet('update')
  installChromium()
  const path = findBrowser()
  console.log(path === undefined ? 'apt-get could not; its own words, if any, are above.' : `Installed ${path}.`)
}

/** Installs iptables and coturn's client for the tests of NAT traversal, where they are missing and it may. */
export function ensureNetworkTools(): void {
  const missing = [['iptables', 'iptables'], ['turnutils_stunclient', 'coturn'], ['ip', 'iproute2']] as const
  const packages = missing.filter(([command]) => spawnSync('which', [command]).status !== 0).map(([, name]) => name)
  if (packages.length === 0 || process.getuid?.() !== 0 || !hasAptGet()) return
  console.log(`Installing Debian's ${packages.join(', ')} with apt-get, for the tests of NAT traversal.`)
  aptGet('update')
  aptGet('install', '--yes', '--no-install-recommends', ...packages)
}

function installChromium(): void {
  aptGet('install', '--yes', '--no-install-recommends', 'chromium')
}

function hasAptGet(): boolean {
  return process.platform === 'linux' && spawnSync('apt-get', ['--version']).status === 0
}

function aptGet(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
}
