/**
 * A watchdog around the fuzzer: the target runs in a worker thread, so that an endless loop in a decoder ends in a
 * report with the guilty input and not in a hung build.
 *
 * The worker writes every input into shared memory before it runs it. When the input has not changed for `HANG_MS` the
 * watchdog reads it from there and ends the worker. This file is both ends: the worker is started from it.
 */

import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { withCorpus } from './corpus.ts'
import { fuzzTarget, type FuzzLimits, type FuzzReport } from './run-fuzz.ts'
import { INPUT_BYTES_MAX } from './run-fuzz-inputs.ts'
import type { FuzzTarget } from './target.ts'

/** Two hundred times the limit of a slow input: it hangs. */
const HANG_MS = 10_000

/** Node 20 ignores `--import` for a worker's own file, so the loader that reads TypeScript is registered by hand. */
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'))
const LOADER = new URL('./dist/esm/api/index.mjs', TSX).href
const WORKER_ENTRY = `import('${LOADER}').then(({ register }) => { register(); return import('${import.meta.url}') })`

/** A target and the file it comes from: what a worker needs to load it again. */
export interface FoundTarget {
  readonly file: string
  readonly target: FuzzTarget
}

/**
 * Every target of every `*.fuzz.ts` in `folder`, by name. Two targets with one name are refused: a replay could not
 * distinguish them.
 */
export async function findTargets(folder: URL = new URL('./', import.meta.url)): Promise<readonly FoundTarget[]> {
  const found: FoundTarget[] = []
  const names = (await readdir(folder)).filter((name) => name.endsWith('.fuzz.ts')).sort()
  for (const name of names) {
    for (const each of await targetsOf(fileURLToPath(new URL(name, folder)))) {
      const twin = found.find((other) => other.target.name === each.target.name)
      if (twin !== undefined) throw new Error(`two targets are named ${each.target.name}: ${twin.file}, ${each.file}`)
      found.push(each)
    }
  }
  return found
}

/** The `targets` that one file exports. */
export async function targetsOf(file: string): Promise<readonly FoundTarget[]> {
  const module: { readonly targets?: readonly FuzzTarget[] } = await import(pathToFileURL(file).href)
  if (module.targets === undefined) throw new Error(`${file} exports no \`targets\` array (see test/fuzz/target.ts)`)
  return module.targets.map((target) => ({ file, target: withCorpus(target) }))
}

/** Fuzzes one target in a thread of its own. */
export async function fuzzGuarded(
  found: FoundTarget,
  limits: FuzzLimits,
  hangMs: number = HANG_MS,
): Promise<FuzzReport> {
  const thread = new FuzzThread(hangMs)
  try {
    return await thread.fuzz(found, limits)
  } finally {
    await thread.close()
  }
}

/** A thread that fuzzes one target after the other: starting a thread takes longer than many targets. */
export class FuzzThread {
  readonly #hangMs: number
  readonly #shared = new SharedArrayBuffer(8 + INPUT_BYTES_MAX)
  #worker: Worker | undefined

  constructor(hangMs: number = HANG_MS) {
    this.#hangMs = hangMs
  }

  async fuzz(found: FoundTarget, limits: FuzzLimits): Promise<FuzzReport> {
    const { name } = found.target
    const current = new Int32Array(this.#shared, 0, 2).fill(0)
    const worker = (this.#worker ??= new Worker(WORKER_ENTRY, {
      eval: true,
      workerData: START,
      execArgv: ['--conditions=tickwire-source'],
    }))
    const order: Order = { file: found.file, name, limits, shared: this.#shared }
    worker.postMessage(order)
    let watchdog: NodeJS.Timeout | undefined
    const listening = new AbortController()
    try {
      return await new Promise<FuzzReport>((resolve, reject) => {
        const { signal } = listening
        void once(worker, 'message', { signal }).then(([report]) => resolve(report as FuzzReport), reject)
        void once(worker, 'exit', { signal }).then(
          () => reject(new Error(`the thread of ${name} ended without a report`)),
          () => {},
        )
        let seen = 0
        watchdog = setInterval(() => {
          const count = Atomics.load(current, 0)
          // The target hangs: the next target gets another thread.
          if (count > 0 && count === seen) {
            resolve(hangReport(name, count, this.#shared, this.#hangMs))
            void this.close()
          }
          seen = count
        }, this.#hangMs)
      })
    } finally {
      clearInterval(watchdog)
      listening.abort()
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }
}

/** Marks the threads that are started here: test runners have worker threads too. */
const START = 'tickwire fuzz'

interface Order {
  readonly file: string
  readonly name: string
  readonly limits: FuzzLimits
  /** [inputs begun: i32][length of this one: i32][its bytes] */
  readonly shared: SharedArrayBuffer
}

function hangReport(name: string, inputs: number, shared: SharedArrayBuffer, hangMs: number): FuzzReport {
  const length = Atomics.load(new Int32Array(shared, 4, 1), 0)
  const hex = Buffer.from(new Uint8Array(shared, 8, length)).toString('hex')
  const failure = { kind: 'slow', hex, message: `did not end within ${hangMs} ms; given up` } as const
  return { name, inputs, throws: 0, slow: 1, large: 0, maxAllocatedBytes: 0, failures: [failure] }
}

async function work(order: Order): Promise<FuzzReport> {
  const target = (await targetsOf(order.file)).find((each) => each.target.name === order.name)?.target
  if (target === undefined) throw new Error(`${order.file} has no target ${order.name}`)
  const current = new Int32Array(order.shared, 0, 2)
  const input = new Uint8Array(order.shared, 8)
  return fuzzTarget(target, order.limits, (bytes) => {
    input.set(bytes)
    Atomics.store(current, 1, bytes.length)
    Atomics.add(current, 0, 1)
  })
}

if (!isMainThread && workerData === START) {
  parentPort?.on('message', (order: Order) => { void work(order).then((report) => parentPort?.postMessage(report)) })
}
