/**
 * Installs a browser for the browser tests, and programs for the tests of the network, from Debian's packages.
 *
 * Only `npm test` calls this. It installs nothing where the programs exist, where the user is not root, or where there
 * is no apt-get; the tests then say what to do.
 */

import { spawnSync } from 'node:child_process'
import { findBrowser } from '../test/browser/browser.ts'

/** Installs chromium when there is no browser and the user is root. Prints a line before and a line after. */
export function ensureBrowser(): void {
  if (findBrowser() !== undefined || process.getuid?.() !== 0 || !hasAptGet()) return
  console.log('No browser was found: installing Debian\'s chromium with apt-get, for the browser tests.')
  // The package lists of a fresh container are empty, and those of an image may be months old, with an old browser. If
  // the update fails, the old lists are used.
  aptGet('update')
  installChromium()
  const path = findBrowser()
  console.log(path === undefined ? 'apt-get failed; its own message, if any, is above.' : `Installed ${path}.`)
}

/**
 * Installs iptables, iproute2 and coturn's client for the tests of NAT traversal, redis-server for those of stores, and
 * systemd-analyze, promtool and docker-compose for those of operations, where they are missing.
 */
export function ensureNetworkTools(): void {
  const missing = [
    ['iptables', 'iptables'], ['turnutils_stunclient', 'coturn'], ['ip', 'iproute2'], ['redis-server', 'redis-server'],
    ['systemd-analyze', 'systemd'], ['promtool', 'prometheus'], ['docker-compose', 'docker-compose'],
    ['haproxy', 'haproxy'], ['nginx', 'nginx-light'],
  ] as const
  const packages = missing.filter(([command]) => spawnSync('which', [command]).status !== 0).map(([, name]) => name)
  if (packages.length === 0 || process.getuid?.() !== 0 || !hasAptGet()) return
  console.log(`Installing Debian's ${packages.join(', ')} with apt-get, for the tests of the network.`)
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
