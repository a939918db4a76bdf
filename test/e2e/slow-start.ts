import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'

/** The first message of a test is answered only when the gate opens; the others at once. */
export function slowStart() {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    return textReply(`heard ${text}`, text.startsWith('slow') ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  return { gate, script }
}
