/**
 * Networks of real routers, in network namespaces of this machine: `PREFIX-pub` is the internet (100.64.0.0/24), and
 * behind each router is one host. Nothing leaves the namespaces.
 */

import { spawn, spawnSync } from 'node:child_process'
import type { Socket } from 'node:net'

const IS_ROOT = process.getuid?.() === 0

/** Commands that make a private folder for namespaces, without root. */
const OWN_PLACE = 'mount -t tmpfs tmpfs /run && mkdir /run/netns'
/** The process whose user namespace ours are in; undefined as root, and before the first one. */
let holder: number | undefined

/** Why namespaces cannot be used here; undefined when they can: as root, or in a user namespace (`unshare -Urnm`). */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux'
  if (spawnSync('iptables', ['--version']).error !== undefined) return 'needs iptables'
  const probe = `tw-probe-${process.pid}`
  const tries = `ip netns add ${probe} && ip netns exec ${probe} iptables -t nat -L`
  if (!IS_ROOT) {
    const { status } = spawnSync('unshare', ['-Urnm', 'sh', '-c', `${OWN_PLACE} && ${tries}`])
    return status === 0 ? undefined : 'needs root, or user namespaces with iptables'
  }
  const { status } = spawnSync('sh', ['-c', tries])
  spawnSync('ip', ['netns', 'del', probe])
  return status === 0 ? undefined : 'needs network namespaces with iptables'
}

/** The words of a command that runs in a namespace. It replaces itself by the program, so a signal reaches it. */
export function inNamespace(namespace: string, ...command: string[]): [string, ...string[]] {
  return asOwner('ip', 'netns', 'exec', namespace, ...command)
}

/** The words of a command that may change namespaces. */
export function asOwner(file: string, ...args: string[]): [string, ...string[]] {
  if (IS_ROOT) return [file, ...args]
  holder ??= startHolder()
  return ['nsenter', '-t', String(holder), '-U', '-m', '-n', '--preserve-credentials', file, ...args]
}

function startHolder(): number {
  // It ends with its input, so with this process, however that ends.
  const words = ['-Urnm', 'sh', '-c', `${OWN_PLACE} && exec cat`]
  const child = spawn('unshare', words, { stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
  // reason: the pipe of a child process is a socket, which its type does not say.
  ;(child.stdin as unknown as Socket).unref()
  const pid = child.pid ?? 0
  const look = ['-t', String(pid), '-U', '-m', '-n', '--preserve-credentials', 'test', '-d', '/run/netns']
  for (let turn = 0; turn < 200; turn++) {
    if (spawnSync('nsenter', look).status === 0) return pid
    spawnSync('sleep', ['0.02'])
  }
  throw new Error('no user namespace after 4 s')
}

/** Some homes around one public network. */
export class Namespaces {
  readonly #prefix: string = `tw${process.pid}`
  readonly #names: string[] = []
  #hasIpv6: boolean = false

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

  /**
   * Gives a home IPv6 too, as most have it: no translation, but a firewall that lets only answers in. All machines have
   * unique local addresses, `fd00:NUMBER::2`.
   */
  addIpv6(number: number): void {
    const [nat, host] = [`${this.#prefix}-nat${number}`, `${this.#prefix}-host${number}`]
    const address = (name: string, text: string, dev: string): void =>
      run('ip', '-n', name, '-6', 'addr', 'add', text, 'dev', dev, 'nodad')
    const forward = (name: string): void =>
      run('ip', 'netns', 'exec', name, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1')
    if (!this.#hasIpv6) {
      this.#hasIpv6 = true
      forward(this.public)
      address(this.public, 'fd00::10/64', 'br0')
    }
    forward(nat)
    address(nat, `fd00::${number}/64`, `w${number}`)
    address(nat, `fd00:${number}::1/64`, `l${number}`)
    address(host, `fd00:${number}::2/64`, `e${number}`)
    run('ip', '-n', nat, '-6', 'route', 'add', 'default', 'via', 'fd00::10')
    run('ip', '-n', host, '-6', 'route', 'add', 'default', 'via', `fd00:${number}::1`)
    run('ip', '-n', this.public, '-6', 'route', 'add', `fd00:${number}::/64`, 'via', `fd00::${number}`)
    const filter = (...args: string[]): void => run('ip', 'netns', 'exec', nat, 'ip6tables', '-A', 'FORWARD', ...args)
    filter('-i', `w${number}`, '-m', 'conntrack', '--ctstate', 'ESTABLISHED,RELATED', '-j', 'ACCEPT')
    filter('-i', `w${number}`, '-j', 'DROP')
  }

  /**
   * Adds a second host behind a router, 10.2.NUMBER.2. With a `port`, the two do not reach each other by their inner
   * addresses, as in the network of a hotel; but the router has hairpin: the outer address of the first host leads to
   * it, at this port.
   */
  addNeighbour(number: number, port?: number): string {
    const [nat, mate] = [`${this.#prefix}-nat${number}`, this.#add(`mate${number}`)]
    const [near, far] = [`m${number}`, `n${number}`]
    run('ip', 'link', 'add', near, 'netns', nat, 'type', 'veth', 'peer', 'name', far, 'netns', mate)
    run('ip', '-n', nat, 'addr', 'add', `10.2.${number}.1/24`, 'dev', near)
    run('ip', '-n', nat, 'link', 'set', near, 'up')
    run('ip', '-n', mate, 'addr', 'add', `10.2.${number}.2/24`, 'dev', far)
    run('ip', '-n', mate, 'link', 'set', far, 'up')
    run('ip', '-n', mate, 'route', 'add', 'default', 'via', `10.2.${number}.1`)
    if (port === undefined) return mate
    const inNat = (...args: string[]): void => run('ip', 'netns', 'exec', nat, 'iptables', ...args)
    const [outer, inner] = [`100.64.0.${number}`, `10.0.${number}.2`]
    inNat(
      '-t', 'nat', '-A', 'PREROUTING', '-i', near, '-d', outer, '-p', 'udp', '--dport', String(port),
      '-j', 'DNAT', '--to-destination', `${inner}:${port}`,
    )
    inNat('-t', 'nat', '-A', 'POSTROUTING', '-o', `l${number}`, '-d', inner, '-j', 'SNAT', '--to-source', outer)
    for (const [from, to] of [[near, `l${number}`], [`l${number}`, near]] as const) {
      inNat('-A', 'FORWARD', '-i', from, '-o', to, '-m', 'conntrack', '--ctstate', 'DNAT', '-j', 'ACCEPT')
      inNat('-A', 'FORWARD', '-i', from, '-o', to, '-j', 'DROP')
    }
    return mate
  }

  /** Gives the host behind a router another address, as a machine that changes its network gets one. */
  changeNetwork(number: number): void {
    const [host, eth] = [`${this.#prefix}-host${number}`, `e${number}`]
    run('ip', '-n', host, 'addr', 'add', `10.0.${number}.9/24`, 'dev', eth)
    run('ip', '-n', host, 'addr', 'del', `10.0.${number}.2/24`, 'dev', eth)
    run('ip', '-n', host, 'addr', 'replace', `10.0.${number}.9/24`, 'dev', eth)
    run('ip', '-n', host, 'route', 'replace', 'default', 'via', `10.0.${number}.1`)
  }

  /** Takes the host behind one router to another router, as from Wi-Fi to cellular. The old line is dead at once. */
  changeRouter(number: number, other: number): void {
    const [host, nat] = [`${this.#prefix}-host${number}`, `${this.#prefix}-nat${other}`]
    const [near, far] = [`c${number}`, `d${number}`]
    run('ip', 'link', 'add', far, 'netns', nat, 'type', 'veth', 'peer', 'name', near, 'netns', host)
    run('ip', '-n', nat, 'addr', 'add', `10.1.${number}.1/24`, 'dev', far)
    run('ip', '-n', nat, 'link', 'set', far, 'up')
    run('ip', '-n', host, 'link', 'set', `e${number}`, 'down')
    run('ip', '-n', host, 'addr', 'add', `10.1.${number}.2/24`, 'dev', near)
    run('ip', '-n', host, 'link', 'set', near, 'up')
    run('ip', '-n', host, 'route', 'replace', 'default', 'via', `10.1.${number}.1`)
  }

  /** Removes everything. */
  close(): void {
    for (const name of this.#names) {
      const [file, ...args] = asOwner('ip', 'netns', 'del', name)
      spawnSync(file, args)
    }
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
  const [file, ...words] = asOwner(command, ...args)
  const { status, stderr } = spawnSync(file, words)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${String(stderr)}`)
}
