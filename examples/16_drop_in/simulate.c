/* simulate.c - how heat spreads. The edge of the plate keeps its temperature. */
#include <stdlib.h>
#include <string.h>

#define AT(plate, r, c) (plate)[(r) * cols + (c)]

static void step(float *next, const float *now, int rows, int cols)
{
    int r, c;
    for (r = 1; r < rows - 1; r++)
        for (c = 1; c < cols - 1; c++)
            AT(next, r, c) = AT(now, r, c) + 0.2f * (AT(now, r - 1, c) + AT(now, r + 1, c)
                             + AT(now, r, c - 1) + AT(now, r, c + 1) - 4 * AT(now, r, c));
}

void simulate(float *plate, int rows, int cols, int steps)
{
    size_t bytes = (size_t)rows * cols * sizeof *plate;
    float *now = plate, *next = malloc(bytes), *t;

    memcpy(next, plate, bytes);
    for (; steps > 0; steps--) {
        step(next, now, rows, cols);
        t = now; now = next; next = t;
    }
    if (now != plate) {
        memcpy(plate, now, bytes);
        next = now;
    }
    free(next);
}
