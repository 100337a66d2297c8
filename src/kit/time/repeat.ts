/** Calls a task at intervals until the function that it returns is called. */
export type Repeat = (task: () => void, milliseconds: number) => () => void;

/** Repeats by a timer that alone does not keep the process alive. */
export const repeatByTimer: Repeat = (task, milliseconds) => {
  const timer = setInterval(task, milliseconds).unref();
  return () => clearInterval(timer);
};
