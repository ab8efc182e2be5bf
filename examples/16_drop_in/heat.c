/* heat.c - a hot bar in a cold plate.                                    heat [SIZE [STEPS]] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

void simulate(float *plate, int rows, int cols, int steps);

static double seconds(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec + t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 500, r, c;
    float *plate = calloc((size_t)n * n, sizeof *plate);
    double start, sum = 0;

    for (r = n / 4; r < n / 2; r++)
        for (c = n / 8; c < n - n / 8; c++)
            plate[r * n + c] = 100;
    start = seconds();
    simulate(plate, n, n, steps);
    start = seconds() - start;
    for (r = 0; r < n; r++)
        for (c = 0; c < n; c++)
            sum += plate[r * n + c] * (double)(r + 2 * c);
    printf("checksum %.6f\n", sum);
    fprintf(stderr, "%d x %d, %d steps: %.3f s\n", n, n, steps, start);
    free(plate);
    return 0;
}
