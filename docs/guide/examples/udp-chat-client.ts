import { createInterface } from 'node:readline'
import { createEndpoint } from 'tickwire/engine'
import { monotonicNow, openUdp, resolveUdp, systemEntropy } from 'tickwire/node'
import { fingerprint, linesOf, openChannel, run } from './udp-chat.ts'

// #region client
const [host = '127.0.0.1', number = '4000'] = process.argv.slice(2)
const server = await resolveUdp(host, Number(number))
const port = await openUdp()
const endpoint = createEndpoint({ fingerprint, entropy: systemEntropy, assemble: () => {} })

const connection = endpoint.connect(monotonicNow(), server)
const channel = openChannel(connection)

const keyboard = createInterface({ input: process.stdin })
const wake = run(endpoint, port, (event) => {
  if (event.type === 'opened') return console.log(`connected to ${server}`)
  console.log(`the connection is over: ${event.reason.code}`)
  port.close()
  keyboard.close()
}, () => {
  for (const line of linesOf(channel)) console.log(line)
})

keyboard.on('line', (line) => {
  channel.send(new TextEncoder().encode(line))
  wake()
})
keyboard.on('close', () => {
  connection.close(monotonicNow())
  wake()
})
// #endregion
