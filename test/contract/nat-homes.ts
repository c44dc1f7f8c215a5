/**
 * Networks of real routers, in network namespaces of this machine: `PREFIX-pub` is the internet (100.64.0.0/24), and
 * behind each router is one host. Nothing leaves the namespaces.
 */

import { spawnSync } from 'node:child_process'

/** Why namespaces cannot be used here; undefined when they can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs Linux and root'
  if (spawnSync('iptables', ['--version']).error !== undefined) return 'needs iptables'
  const probe = `tw-probe-${process.pid}`
  const isFine = spawnSync('ip', ['netns', 'add', probe]).status === 0
    && spawnSync('ip', ['netns', 'exec', probe, 'iptables', '-t', 'nat', '-L']).status === 0
  spawnSync('ip', ['netns', 'del', probe])
  return isFine ? undefined : 'needs network namespaces with iptables'
}

/** Some homes around one public network. */
export class Namespaces {
  readonly #prefix: string = `tw${process.pid}`
  readonly #names: string[] = []

  /** The public network, where relays run: 100.64.0.10 and 100.64.0.20. */
  constructor() {
    const pub = this.#add('pub')
    run('ip', '-n', pub, 'link', 'add', 'br0', 'type', 'bridge')
    for (const address of ['100.64.0.10/24', '100.64.0.20/24'])
      run('ip', '-n', pub, 'addr', 'add', address, 'dev', 'br0')
    run('ip', '-n', pub, 'link', 'set', 'br0', 'up')
  }

  /** The namespace of the public network. */
  get public(): string {
    return `${this.#prefix}-pub`
  }

  /** Adds a router with public address 100.64.0.`number`, and a host behind it. Returns the host's namespace. */
  addHome(number: number, isSymmetric: boolean): string {
    const [nat, host] = [this.#add(`nat${number}`), this.#add(`host${number}`)]
    const [wan, bridge, lan, eth] = [`w${number}`, `p${number}`, `l${number}`, `e${number}`]
    const inner = `10.0.${number}`
    run('ip', 'link', 'add', wan, 'netns', nat, 'type', 'veth', 'peer', 'name', bridge, 'netns', this.public)
    run('ip', '-n', this.public, 'link', 'set', bridge, 'master', 'br0', 'up')
    run('ip', '-n', nat, 'addr', 'add', `100.64.0.${number}/24`, 'dev', wan)
    run('ip', '-n', nat, 'link', 'set', wan, 'up')
    run('ip', 'link', 'add', lan, 'netns', nat, 'type', 'veth', 'peer', 'name', eth, 'netns', host)
    run('ip', '-n', nat, 'addr', 'add', `${inner}.1/24`, 'dev', lan)
    run('ip', '-n', nat, 'link', 'set', lan, 'up')
    run('ip', '-n', host, 'addr', 'add', `${inner}.2/24`, 'dev', eth)
    run('ip', '-n', host, 'link', 'set', eth, 'up')
    run('ip', '-n', host, 'route', 'add', 'default', 'via', `${inner}.1`)
    const inNat = (...args: string[]): void => run('ip', 'netns', 'exec', nat, ...args)
    inNat('sysctl', '-qw', 'net.ipv4.ip_forward=1')
    // With a random port for each destination a router is symmetric; otherwise the inner port is kept.
    const random = isSymmetric ? ['--random-fully'] : []
    inNat('iptables', '-t', 'nat', '-A', 'POSTROUTING', '-o', wan, '-j', 'MASQUERADE', ...random)
    inNat('iptables', '-A', 'FORWARD', '-i', wan, '-m', 'conntrack', '--ctstate', 'ESTABLISHED,RELATED', '-j', 'ACCEPT')
    inNat('iptables', '-A', 'FORWARD', '-i', wan, '-j', 'DROP')
    inNat('iptables', '-A', 'INPUT', '-i', wan, '-j', 'DROP')
    return host
  }

  /** Removes everything. */
  close(): void {
    for (const name of this.#names) spawnSync('ip', ['netns', 'del', name])
  }

  #add(name: string): string {
    const full = `${this.#prefix}-${name}`
    run('ip', 'netns', 'add', full)
    this.#names.push(full)
    run('ip', '-n', full, 'link', 'set', 'lo', 'up')
    return full
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${String(stderr)}`)
}
