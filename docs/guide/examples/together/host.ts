// #region host
import { host } from 'tickwire/node'
import { game } from './game.ts'

const hosted = await host(game, { rendezvous: process.env['RENDEZVOUS'] ?? 'https://play.example' })
console.log(`code ${hosted.code}`)
console.log(`link ${hosted.link}`)
hosted.onCode = (code) => console.log(`code ${code}`)
// #endregion
