/** The path that the API is mounted at. */
export const BASE_PATH = "/api/v1"
