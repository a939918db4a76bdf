import { rmSync } from 'node:fs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const paths = new Set<string>()

/**
 * Removes a file or folder when the process ends by itself or by one of the signals with which people end a command:
 * what was half written holds words of conversations, and nobody looks for it. Returns the function that removes it at
 * once.
 */
export function removeAtEnd(path: string): () => void {
  if (paths.size === 0) {
    process.on('exit', removeAll)
    for (const signal of SIGNALS) process.on(signal, endBy)
  }
  paths.add(path)
  return () => {
    if (!paths.delete(path)) return
    tryToRemove(path)
    if (paths.size === 0) letGo()
  }
}

function removeAll(): void {
  for (const path of paths) tryToRemove(path)
}

/** Removes a file or folder, where that can be done. */
export function tryToRemove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Its folder may have become read-only, or gone away with its disk; it must not keep the others.
  }
}

/** Ends the process by the same signal, so that its parent learns of that one. */
function endBy(signal: NodeJS.Signals): void {
  removeAll()
  letGo()
  process.kill(process.pid, signal)
}

function letGo(): void {
  process.off('exit', removeAll)
  for (const signal of SIGNALS) process.off(signal, endBy)
}
