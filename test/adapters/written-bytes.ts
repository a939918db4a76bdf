import type { RecordingSink } from '../contracts/recording-sink.ts'

/** Returns the sizes of everything that `sink` is asked to remember from now on, one number for each write. */
export function writtenBytes({ state }: RecordingSink): number[] {
  const written: number[] = []
  const set = state.set
  state.set = (key, value) => {
    written.push(Buffer.byteLength(value))
    return set(key, value)
  }
  return written
}
