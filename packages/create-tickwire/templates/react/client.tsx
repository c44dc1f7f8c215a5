import { useState, useSyncExternalStore, type FormEvent } from 'react'
import { createRoot } from 'react-dom/client'
import { play, scores, type Score } from './match.ts'

/** React draws what is around the match: the form, the scores. The field is a canvas, drawn at every repaint. */
function App() {
  const [isPlaying, setPlaying] = useState(false)
  return (
    <main>
      {!isPlaying && <Join onJoin={(name) => { setPlaying(true); void play(name) }} />}
      <canvas id="field" hidden={!isPlaying} />
      {isPlaying && <Scores />}
    </main>
  )
}

function Join({ onJoin }: { onJoin(name: string): void }) {
  const [name, setName] = useState('Guest')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onJoin(name)
  }
  return (
    <form onSubmit={submit}>
      <label>Your name <input value={name} maxLength={16} onChange={(event) => setName(event.target.value)} /></label>
      <button>Play</button>
    </form>
  )
}

function Scores() {
  const list: readonly Score[] = useSyncExternalStore(scores.subscribe, scores.read)
  return (
    <ol>
      {list.map(({ id, name, coins, isOwn }) => <li key={id}>{isOwn ? <b>{name}</b> : name}: {coins}</li>)}
    </ol>
  )
}

createRoot(document.getElementById('root')!).render(<App />)
