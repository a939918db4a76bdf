import type { SendAnswer, TurnRef } from './session-tools.ts'

/** A piece of work for a session of its own. */
export interface ChildTask {
  /** The whole task in words: nothing else of the conversation is shown there. */
  readonly task: string
  /** Seconds to wait for the answer, 600 by default, an hour at most. */
  readonly timeoutSeconds?: number
}

/**
 * Begins durable sessions below the one that asks (R36). A child has the agent of its parent and the authority of the
 * turn that began it or less: the authors of its parent are its own, nobody is there to ask for an approval, and it
 * begins no tasks. Its parent may read it and write to it again by its key.
 */
export interface RunsTasks {
  /**
   * Returns the answer as `SessionTools.send` does. A call is known by its id: repeated after a crash it finds the
   * session and the run it had begun. A stop of the turn (`signal`) stops the task. Throws `invalid` for a task without
   * words and for one that a task would begin, and `forbidden` where guests speak.
   */
  run(task: ChildTask, turn: TurnRef, callId: string, signal: AbortSignal): Promise<SendAnswer>
}
