import { servePlayground } from './serve-playground.ts'

try {
  const { url } = await servePlayground(process.argv.slice(2))
  console.log(`\n  Playground    ${url}\n\n  Eight labs, one idea of netcode each. Ctrl-C ends it.\n`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
