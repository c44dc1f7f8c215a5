import { servePlayground } from './serve-playground.ts'

const { url } = await servePlayground(process.argv.slice(2))
console.log(`\n  Playground    ${url}\n\n  Eight ideas of netcode, each running in the page, with its source beside it. Ctrl-C ends it.\n`)
