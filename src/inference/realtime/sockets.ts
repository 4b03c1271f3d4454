/** A socket that has closed tells so by its event: sending to it and closing it again do nothing. */

export function sendText(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    // It has closed.
  }
}

export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // It has closed.
  }
}
